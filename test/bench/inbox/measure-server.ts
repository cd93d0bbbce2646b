import { setTimeout } from 'node:timers/promises';
import type { ThreadStore } from 'holdpoint';
import { askInbox, openAgent, openInbox } from './bench-inbox.ts';

const streamCount = 50;
const listCount = 1_000;

/** What a server of an inbox holds, in MB, and how soon a change has reached all of its open streams, in milliseconds. */
export interface ServerLoad {
  /** Before anything is asked, after 1,000 lists, and with 50 open streams. */
  heap: readonly [before: number, listed: number, streaming: number];
  /** From the begin of an append by another handle to the last of 50 streams. */
  told: number[];
}

/** Asks the server for many lists and opens many streams. `other` is the same database, as another process has it open. */
export async function measureServer(
  store: ThreadStore,
  other: ThreadStore,
  rounds: number,
): Promise<ServerLoad> {
  const handler = openInbox(store);
  const list = async (count: number): Promise<void> => {
    for (let each = 0; each < count; each += 1) {
      await (await askInbox(handler, '/api/requests')).json();
    }
  };
  /* The first ones make ready what stays: code, shapes, pools. */
  await list(100);
  const before = await readHeap();
  await list(listCount);
  const listed = await readHeap();
  const streams = await Promise.all(
    Array.from({ length: streamCount }, async () => follow(handler)),
  );
  const told: number[] = [];
  const agent = openAgent(other, 1);
  for (let round = -3; round < rounds; round += 1) {
    const thread = await agent.thread(`told-${round}`);
    const next = streams.map(async (stream) => stream.next());
    const begin = performance.now();
    await agent.requestApproval(thread, { text: 'Go on?', approvers: ['ada'] });
    await Promise.all(next);
    if (round >= 0) told.push(performance.now() - begin);
  }
  const streaming = await readHeap();
  await Promise.all(streams.map(async (stream) => stream.end()));
  return { heap: [before, listed, streaming], told };
}

/** A stream of changes that is open: `next` resolves with the next events. */
async function follow(handler: (request: Request) => Promise<Response>) {
  const { body } = await askInbox(handler, '/api/changes');
  if (body === null) throw new Error('The stream has no body.');
  const reader = body.getReader();
  /* How soon to come again. */
  await reader.read();
  return { next: async () => reader.read(), end: async () => reader.cancel() };
}

/** MB in use, when nothing is kept that nobody can reach. */
async function readHeap(): Promise<number> {
  await setTimeout(50);
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 2 ** 20;
}
