import { runWorker } from 'holdpoint/worker';
import { openOffice } from './office/open-office.ts';

/* Runs what people have approved, in a process of its own: the one that serves pages only records answers. */
const { agent, close } = await openOffice();
const stopping = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopping.abort());
/* The process that started this one has ended. */
process.once('disconnect', () => stopping.abort());
await runWorker({
  agent,
  signal: stopping.signal,
  onError: (error, threadId = 'the store') =>
    console.error(`The worker failed at ${threadId}:`, error),
});
await close();
/* The channel to the other process would keep this one alive. */
if (process.connected) process.disconnect();
