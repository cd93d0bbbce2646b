/*
 * A worker in a process of its own, which kills itself at one of the boundaries that it passes with a thread, if no other process has done so
 * before: with the thread `after-append.2.0` after its second append to it. It says `ready` when it hears notices.
 * Arguments: a connection string, the folder of the ledgers, how often it polls in milliseconds.
 */
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { tool } from 'ai';
import { createAgent, type ThreadStore, type ToolRunOptions } from 'holdpoint';
import { type PostgresPool, postgresStore } from 'holdpoint/stores/postgres';
import { runWorker } from 'holdpoint/worker';
import { Pool } from 'pg';
import { z } from 'zod';
import { ledgersOf } from '../faults/ledger-file.ts';
import { scriptedModel } from './scripted-model.ts';
import { cityInput } from './travel-world.ts';

const [connectionString = '', folder = '', pollMs = ''] = process.argv.slice(2);
const pool = new Pool({ connectionString });
pool.on('error', () => {});

/** What a worker does with a thread, and may die before or after. */
type Act = 'claim' | 'notice' | 'append' | 'effect';

const passed = new Map<string, number>();

function passBoundary(threadId: string, boundary: `${'before' | 'after'}-${Act}`): void {
  const key = `${threadId} ${boundary}`;
  const count = (passed.get(key) ?? 0) + 1;
  passed.set(key, count);
  if (!threadId.startsWith(`${boundary}.${count}.`) || !isFirstDeath(threadId)) return;
  process.kill(process.pid, 'SIGKILL');
  for (;;) {
    /* Nothing is done any more. */
  }
}

function isFirstDeath(threadId: string): boolean {
  try {
    closeSync(openSync(join(folder, `${threadId}.death`), 'wx'));
    return true;
  } catch {
    return false;
  }
}

/** The threads that a statement notifies about. */
function listNotified({ text, values }: Parameters<PostgresPool['query']>[0]): string[] {
  if (!text.includes('pg_notify')) return [];
  const [payloads] = notifiedSchema.parse(values);
  return payloads.flatMap((payload) => /"threadId":"([^"]+)"/.exec(payload)?.[1] ?? []);
}

const notifiedSchema = z.tuple([z.array(z.string())]);

/** The pool, whose notices are boundaries. */
const noticing: PostgresPool = {
  connect: async () => pool.connect(),
  options: pool.options,
  async query(query) {
    const notified = listNotified(query);
    for (const threadId of notified) passBoundary(threadId, 'before-notice');
    const result = await pool.query(query);
    for (const threadId of notified) passBoundary(threadId, 'after-notice');
    return result;
  },
};

const opened = postgresStore(noticing);
const store: ThreadStore = {
  ...opened,
  async append(...input) {
    passBoundary(input[0], 'before-append');
    await opened.append(...input);
    passBoundary(input[0], 'after-append');
  },
  async claim(claim) {
    if (claim.threadId !== undefined) passBoundary(claim.threadId, 'before-claim');
    const claimed = await opened.claim(claim);
    for (const { threadId } of claimed) passBoundary(threadId, 'after-claim');
    return claimed;
  },
  subscribe: (listener) =>
    opened.subscribe((notice) => {
      if (notice === undefined) console.log('ready');
      listener(notice);
    }),
};

const book = tool({
  description: 'book a flight',
  inputSchema: cityInput,
  async execute(input, { toolCallId, threadId = '', idempotencyKey = '' }: ToolRunOptions) {
    const revision = (await opened.head(threadId))?.revision ?? 0;
    passBoundary(threadId, 'before-effect');
    const effect = { toolName: 'book', toolCallId, idempotencyKey, input, revision };
    ledgersOf(folder, threadId).effects.append(effect);
    passBoundary(threadId, 'after-effect');
    return 'booked';
  },
});

const agent = createAgent({
  name: 'sales',
  model: scriptedModel([{ text: 'Done.' }], { repeat: true }).model,
  tools: { book },
  toolApproval: { book: 'user-approval' },
  store,
  leaseMs: 1_000,
});
const { signal } = new AbortController();
await runWorker({ agent, store, signal, pollMs: Number(pollMs), claimMs: 1_000 });
