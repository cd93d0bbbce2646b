import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createAgent, inertText } from 'holdpoint';
import { sqliteStore } from 'holdpoint/stores/sqlite';
import { chat } from './conversation.ts';
import { demoModel } from './demo-model.ts';
import { chooseBeginning, farewell } from './inbox.ts';
import { bold, faint, InputEnded, Terminal } from './terminal.ts';
import { travelTools } from './tools.ts';

const { AI_GATEWAY_API_KEY, HOLDPOINT_MODEL, HOLDPOINT_DEMO_DIR } = process.env;
const folder = HOLDPOINT_DEMO_DIR || '.holdpoint-demo';
const modelId = HOLDPOINT_MODEL || (AI_GATEWAY_API_KEY ? 'openai/gpt-5-mini' : undefined);

await mkdir(folder, { recursive: true });
using store = sqliteStore(join(folder, 'threads.sqlite'));
using terminal = new Terminal();

const agent = createAgent({
  model: modelId ?? demoModel(today),
  instructions:
    `You book flights. Today is ${today()}. Ask for the city and the day if they are missing. Search first, then book ` +
    'the cheapest flight found. When a booking is rejected, search again for what the reason asks for.',
  tools: travelTools(join(folder, 'bookings.jsonl')),
  toolApproval: {
    bookFlight: {
      type: 'user-approval',
      text: 'May I book this flight?',
      reason: 'A booking costs money.',
    },
  },
  store,
  leaseMs: 5_000,
});

terminal.print(
  `${bold('Travel agent')}, with ${inertText(modelId ?? 'the built-in demo model')}. ` +
    `Everything is kept in ${inertText(folder)}.`,
  faint('Say for example: Book me a flight to Paris on Friday, under 300'),
  faint('/new starts a new conversation, /quit or Ctrl+C leaves; what waits for you is kept.'),
);
try {
  const { thread, input } = await chooseBeginning({ agent, store, terminal });
  await chat({ agent, thread, terminal }, input);
} catch (error) {
  if (!(error instanceof InputEnded)) throw error;
}
terminal.print(await farewell({ agent, store }));

/** Today where the person is, as YYYY-MM-DD. */
function today(): string {
  const now = new Date();
  return [now.getFullYear(), now.getMonth() + 1, now.getDate()]
    .map((part) => String(part).padStart(2, '0'))
    .join('-');
}
