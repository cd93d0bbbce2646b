import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createAgent } from 'holdpoint';
import { sqliteStore } from 'holdpoint/stores/sqlite';
import { createUiHandler } from 'holdpoint/ui';
import { runWorker } from 'holdpoint/worker';
import { buildPage } from '../build-page.ts';
import { ChangeStream } from './change-stream.ts';
import { owns, personOf } from './identity.ts';
import { createInboxHandler } from './inbox-handler.ts';
import { approvalRules } from './office/approval-rules.ts';
import { Ledger } from './office/ledger.ts';
import { officeModel } from './office/office-model.ts';
import { officeTools } from './office/tools.ts';
import { serveFetch } from '../serve-fetch.ts';

const { AI_GATEWAY_API_KEY, HOLDPOINT_MODEL, HOLDPOINT_DEMO_DIR, PORT } = process.env;
const folder = HOLDPOINT_DEMO_DIR || '.holdpoint-inbox';
const modelId = HOLDPOINT_MODEL || (AI_GATEWAY_API_KEY ? 'openai/gpt-5-mini' : undefined);

await mkdir(folder, { recursive: true });
using store = sqliteStore(join(folder, 'threads.sqlite'));
const agent = createAgent({
  model: modelId ?? officeModel(25),
  instructions:
    'You are the assistant of a small office: you pay invoices, delete old backups, write mails and plan lunches. Ask with ' +
    'your tools where something is not clear. Every payment, deletion and mail is approved by the user, who sees the call itself: ' +
    'do not ask for approval in your text. Answer in plain text, without Markdown, in one to three sentences.',
  tools: officeTools(new Ledger(join(folder, 'ledger.jsonl'))),
  toolApproval: approvalRules,
  mayAnswer: ({ principal, request }) =>
    typeof principal === 'string' && owns({ name: principal }, request.threadId),
  /* The ledger does each thing once per key, so a call that was interrupted by a crash can be started again. */
  toolRecovery: {
    payInvoice: { idempotent: true },
    deleteFiles: { idempotent: true },
    sendMail: { idempotent: true },
  },
  store,
  leaseMs: 3_000,
});

const servePage = await buildPage(new URL('page', import.meta.url));
const handleInbox = createInboxHandler({ agent, store, changes: new ChangeStream(agent) });
const handleChat = createUiHandler({
  agent,
  authorize: ({ request, threadId }) => {
    const person = personOf(request);
    return person && owns(person, threadId)
      ? { principal: person.name, channel: 'chat' }
      : undefined;
  },
});
const server = await serveFetch(
  async (request) => {
    const { pathname } = new URL(request.url);
    if (pathname.startsWith('/api/chat')) return handleChat(request);
    if (pathname.startsWith('/api/inbox')) return handleInbox(request);
    return servePage(request);
  },
  Number(PORT || 3210),
);

const address = server.address();
const port = typeof address === 'object' ? address?.port : PORT;
console.log(`The inbox is at http://localhost:${port} (everything is kept in ${folder})`);

const stopping = new AbortController();
process.once('SIGINT', () => stopping.abort());
process.once('SIGTERM', () => stopping.abort());
await runWorker({ agent, store, signal: stopping.signal, onError: report });
server.closeAllConnections();
server.close();

function report(error: unknown, threadId = 'the store'): void {
  console.error(`The worker failed at ${threadId}:`, error);
}
