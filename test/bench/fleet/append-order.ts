import { randomUUID } from 'node:crypto';
import type { ThreadStore } from 'holdpoint';
import { postgresStore } from 'holdpoint/stores/postgres';
import { Pool, type PoolConfig } from 'pg';
import { plainEnd, plainEntry, plainSummary } from '../../support/plain-entries.ts';
import { closed, opened } from '../../support/row-requests.ts';
import { muteNotices } from './counted-pool.ts';
import type { FleetResult, OrderOf } from './fleet-order.ts';

/** A log that a loop appends to. */
interface Log {
  threadId: string;
  revision: number;
}

/** Appends on so many connections at once, each to a log of its own, for so long. */
export async function appendForTime(
  connection: PoolConfig,
  { load, connections, ms }: OrderOf<'append'>,
): Promise<FleetResult> {
  const pool = new Pool({ ...connection, max: connections });
  const isMuted = load.endsWith('without notices');
  const store = postgresStore(isMuted ? muteNotices(pool) : pool, { prepare: true });
  let appends = 0;
  const loop = async (end: number): Promise<void> => {
    const log = { threadId: randomUUID(), revision: 0 };
    while (performance.now() < end) {
      await appendTo(store, log, load);
      appends += 1;
    }
  };
  const runLoops = async (length: number): Promise<void> => {
    const end = performance.now() + length;
    await Promise.all(Array.from({ length: connections }, async () => loop(end)));
  };
  await runLoops(ms / 4);
  appends = 0;
  const begin = performance.now();
  await runLoops(ms);
  const perSecond = appends / ((performance.now() - begin) / 1_000);
  await pool.end();
  return { type: 'done', perSecond };
}

async function appendTo(
  store: ThreadStore,
  log: Log,
  load: OrderOf<'append'>['load'],
): Promise<void> {
  const { threadId, revision } = log;
  log.revision += 1;
  const hasRequests = load.startsWith('requests');
  const isOpening = revision % 2 === 0;
  const summary = plainSummary(threadId, {
    revision: revision + 1,
    updatedAt: Date.now(),
    ...(load.startsWith('due') ? { status: 'due', nextDeadline: 0 } : {}),
    ...(hasRequests ? { status: isOpening ? 'waiting' : 'idle' } : {}),
  });
  const id = `${threadId}-${isOpening ? revision : revision - 1}`;
  const { type, request } = isOpening ? opened(id) : closed(id);
  const beside = hasRequests ? { requests: [{ type, request: { ...request, threadId } }] } : {};
  const entry = plainEntry(revision + 1, 'x'.repeat(400));
  await store.append(threadId, plainEnd(revision), [entry], summary, beside);
}
