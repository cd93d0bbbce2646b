import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { inertText } from 'holdpoint';
import { sqliteStore } from 'holdpoint/stores/sqlite';
import { askHere } from '../ask-here.ts';
import { officeAgents } from './agents.ts';

const { AI_GATEWAY_API_KEY, HOLDPOINT_MODEL, HOLDPOINT_DEMO_DIR } = process.env;
const folder = HOLDPOINT_DEMO_DIR || '.holdpoint-party';
await mkdir(folder, { recursive: true });
using store = sqliteStore(join(folder, 'threads.sqlite'));
const organizer = officeAgents({
  store,
  donePath: join(folder, 'done.jsonl'),
  model: HOLDPOINT_MODEL || (AI_GATEWAY_API_KEY ? 'openai/gpt-5-mini' : undefined),
});

/* One conversation: open requests are asked again when the program restarts. */
const thread = await organizer.thread('party');
const wish = process.argv.slice(2).join(' ') || 'a summer party on Friday';
let response = await organizer.run(thread.status === 'idle' ? wish : [], thread);
while (response.userInputRequests.length > 0) {
  if (response.text !== '') console.log(inertText(response.text));
  const answers = await askHere(response.userInputRequests);
  if (answers.length === 0) break;
  response = await organizer.run(answers, thread);
}
console.log(
  response.status === 'completed'
    ? `\n${inertText(response.text)}`
    : `\nThe requests are kept in ${folder}. Start the program again to answer them.`,
);
