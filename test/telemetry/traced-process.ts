/*
 * A process of its own that answers what a thread waits for and runs it to its end, traced. Gives back the spans it exported as
 * JSON. Argument: the database.
 */
import { context } from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { tool } from 'ai';
import { createAgent } from 'holdpoint';
import { traceHoldpoint } from 'holdpoint/otel';
import { sqliteStore } from 'holdpoint/stores/sqlite';
import { scriptedModel } from '../support/scripted-model.ts';
import { cityInput } from '../support/travel-world.ts';
import { exporting } from './exported.ts';

context.setGlobalContextManager(new AsyncLocalStorageContextManager());
const { tracer, spans } = exporting();
traceHoldpoint({ tracer });
const book = tool({
  description: 'book a flight',
  inputSchema: cityInput,
  execute: async ({ city }) => {
    await Promise.resolve();
    tracer.startSpan('airline').end();
    return { booked: city };
  },
});
const agent = createAgent({
  model: scriptedModel([{ text: 'Done.' }]).model,
  tools: { book },
  toolApproval: { book: 'user-approval' },
  store: sqliteStore(process.argv[2] ?? ''),
});
const thread = await agent.thread('t');
await agent.run(
  thread.activeApprovalRequests.map((request) => request.approve()),
  thread,
);
console.log(JSON.stringify(spans()));
