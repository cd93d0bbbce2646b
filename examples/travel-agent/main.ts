import { createAgent, inertLine } from 'holdpoint';
import { userChoice } from 'holdpoint/tools';
import { chat } from './conversation.ts';
import { demoModel } from './demo-model.ts';
import { chooseThread, farewell } from './unfinished-threads.ts';
import { openFolder } from './open-folder.ts';
import { LeftError, Person } from './person.ts';
import { recoverThread } from './recover-thread.ts';
import { travelTools } from './tools.ts';

const {
  AI_GATEWAY_API_KEY,
  HOLDPOINT_MODEL,
  HOLDPOINT_DEMO_DIR,
  HOLDPOINT_DEMO_AIRLINE_MS,
  HOLDPOINT_DEMO_LINES,
} = process.env;
const folder = HOLDPOINT_DEMO_DIR || '.holdpoint-demo';
const modelId = HOLDPOINT_MODEL || (AI_GATEWAY_API_KEY ? 'openai/gpt-5-mini' : undefined);

const { store: opened, bookingsPath } = await openFolder(folder);
using store = opened;
const person = new Person({ acceptLines: HOLDPOINT_DEMO_LINES === '1' });

const agent = createAgent({
  model: modelId ?? demoModel(today),
  instructions:
    `You book flights. Today is ${today()}. If the city or the day is missing, ask with user_choice and a few likely ` +
    'options. Search, let the user pick one of the flights found with user_choice, then book that one. When a booking ' +
    'is rejected, search again for what the reason asks for, and let them pick again.',
  tools: {
    ...travelTools({
      bookingsPath,
      airlineMs: Number(HOLDPOINT_DEMO_AIRLINE_MS || 1_500),
    }),
    user_choice: userChoice(),
  },
  toolApproval: {
    bookFlight: ({ price }) => ({
      type: 'user-approval',
      text: `May I book this flight for ${price} EUR?`,
      reason: 'A booking costs money.',
    }),
  },
  store,
  leaseMs: 3_000,
});

person.print(
  `Travel agent, with ${inertLine(modelId ?? 'the built-in demo model')}. Everything is kept in ${inertLine(folder)}.`,
  'Say for example: Book me a flight to Paris on Friday, under 300',
  '/new starts a new conversation, /quit or Ctrl+C leaves; what waits for you is kept.',
);
try {
  const typed = process.argv.slice(2).join(' ');
  const { thread, wish } =
    typed === ''
      ? await chooseThread({ agent, store, person })
      : { thread: await agent.thread(), wish: typed };
  await recoverThread({ agent, thread, person }, bookingsPath);
  await chat({ agent, thread, person }, wish);
} catch (error) {
  if (!(error instanceof LeftError)) throw error;
}
person.print('', await farewell(store));

/** Today in local time, as YYYY-MM-DD. */
function today(): string {
  const now = new Date();
  return [now.getFullYear(), now.getMonth() + 1, now.getDate()]
    .map((part) => String(part).padStart(2, '0'))
    .join('-');
}
