import { createInboxHandler } from 'holdpoint/inbox';
import { createUiHandler } from 'holdpoint/ui';
import { buildPage } from '../build-page.ts';
import { serveFetch } from '../serve-fetch.ts';
import { keepWorker } from './keep-worker.ts';
import { openOffice } from './office/open-office.ts';
import { isManager, mayOpen, personOf } from './people.ts';

const { agent, close, folder } = await openOffice();
const stopWorker = keepWorker();

const handleChat = createUiHandler({
  agent,
  authorize: async ({ request, threadId }) => {
    const person = personOf(request);
    if (person === undefined || !mayOpen(person, await agent.thread(threadId))) return undefined;
    return { principal: person, channel: 'chat' };
  },
});
const handleInbox = createInboxHandler({
  agents: [agent],
  authorize: ({ request }) => {
    const person = personOf(request);
    return person && { principal: person, as: [person.id, ...person.roles] };
  },
  maySee: ({ principal, byDefault }) => byDefault || isManager(principal),
  maySettle: ({ principal }) => isManager(principal),
  sourceUrl: ({ threadId }) => `/#${threadId}`,
  formats: {
    payInvoice: [{ path: ['amount'], format: { type: 'money', currency: 'EUR', unit: 'major' } }],
  },
});
const servePage = await buildPage(new URL('page', import.meta.url));
const server = await serveFetch(
  async (request) => {
    const { pathname } = new URL(request.url);
    if (pathname === '/chat') return handleChat(request);
    if (pathname === '/inbox' || pathname.startsWith('/inbox/')) return handleInbox(request);
    return servePage(request);
  },
  Number(process.env['PORT'] || 3210),
);

const address = server.address();
const port = typeof address === 'object' ? address?.port : undefined;
console.log(`Ada, a clerk, asks at        http://localhost:${port}
Bob, a manager, approves at  http://127.0.0.1:${port}/inbox
Everything is kept in ${process.env['DATABASE_URL'] ? 'the database of DATABASE_URL' : folder}.`);

for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void stop());

async function stop(): Promise<void> {
  stopWorker();
  server.closeAllConnections();
  server.close();
  await close();
}
