import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { inertText } from 'holdpoint';
import { sqliteStore } from 'holdpoint/stores/sqlite';
import { askHere } from '../ask-here.ts';
import { publisher } from './publisher.ts';

const folder = process.env['HOLDPOINT_DEMO_DIR'] || '.holdpoint-publisher';
mkdirSync(folder, { recursive: true });
using store = sqliteStore(join(folder, 'threads.sqlite'));
const agent = publisher({ store, path: join(folder, 'announcements.txt') });
const thread = await agent.thread('announcement');
const message = process.argv.slice(2).join(' ') || 'We ship on Friday';

/* Open requests are asked again; the message is sent when none is open. */
const isOpen = thread.activeRequests.length > 0 || thread.nextDeadline !== undefined;
let response = await agent.run(isOpen ? [] : message, thread);
while (response.userInputRequests.length > 0) {
  const answers = await askHere(response.userInputRequests);
  if (answers.length === 0) break;
  response = await agent.run(answers, thread);
}
console.log(
  response.status === 'completed'
    ? inertText(response.text)
    : 'The requests are kept. Start the program again to answer them.',
);
