import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createLinks } from 'holdpoint/links';
import { sqliteStore } from 'holdpoint/stores/sqlite';
import { runWorker } from 'holdpoint/worker';
import { serveFetch } from '../serve-fetch.ts';
import { openKeys } from './keys.ts';
import { type Mail, sendMails } from './mails.ts';
import { addressesOf, paymentAgent } from './payments.ts';

/* Zoe asks an agent to pay. Ada has no page open: she gets a mail, and answers by its link. A worker then pays. */

const { HOLDPOINT_DEMO_DIR, PORT } = process.env;
const folder = HOLDPOINT_DEMO_DIR || '.holdpoint-mail-link';
await mkdir(folder, { recursive: true });
using store = sqliteStore(join(folder, 'threads.sqlite'));
const agent = paymentAgent(store, ({ to, euros }) => console.log(`\nPaid ${euros} EUR to ${to}.`));

const port = Number(PORT || 3240);
const links = createLinks({
  agents: [agent],
  url: `http://localhost:${port}/answer`,
  keys: await openKeys(join(folder, 'link-key.txt')),
});
const server = await serveFetch(
  async (request) =>
    new URL(request.url).pathname.startsWith('/answer/')
      ? links.handler(request)
      : new Response('There is nothing here.', { status: 404 }),
  port,
);

const positionFile = join(folder, 'mails.position');
let sending = Promise.resolve();
function sendSoon(): void {
  sending = sending
    .then(async () =>
      sendMails({ agent, store, links, addressesOf, send: printMail, positionFile }),
    )
    .catch(console.error);
}
store.subscribe((notice) => {
  if (notice?.type !== 'claim') sendSoon();
});
const timer = setInterval(sendSoon, 5_000);

/* The demo's stand-in for a mail server. */
async function printMail({ to, subject, text }: Mail): Promise<void> {
  console.log(`\nTo: ${to}\nSubject: ${subject}\n\n${text}`);
}

const thread = await agent.thread();
await agent.run('Pay the invoice from ACME.', thread, { principal: 'zoe@example.com' });

const stopping = new AbortController();
process.once('SIGINT', () => stopping.abort());
process.once('SIGTERM', () => stopping.abort());
await runWorker({ agent, signal: stopping.signal, onError: console.error });
clearInterval(timer);
await sending;
server.closeAllConnections();
server.close();
