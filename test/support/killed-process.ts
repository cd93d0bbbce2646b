/*
 * A process of its own that leads threads to their end, all at once, and that may be killed at any moment. It says
 * `appended` after each append, and at last how the threads ended. Arguments: the database of the threads (a connection string of
 * Postgres, or an SQLite file), the folder of their ledgers, their ids.
 */
import { setTimeout } from 'node:timers/promises';
import { type Agent, createAgent, memoryStore, type ThreadStore } from 'holdpoint';
import { postgresStore } from 'holdpoint/stores/postgres';
import { sqliteStore } from 'holdpoint/stores/sqlite';
import { Pool } from 'pg';
import { ledgersOf } from '../faults/ledger-file.ts';
import { notingTool } from '../faults/noting-tool.ts';
import { statelessModel } from '../faults/stateless-model.ts';

const [database = '', folder = '', ...threadIds] = process.argv.slice(2);
const turns = [
  { message: 'Book two', calls: [['book', 'Paris'] as const, ['book', 'Rome'] as const] },
  { message: 'Look and book', calls: [['look', 'Oslo'] as const, ['book', 'Oslo'] as const] },
  { message: 'Book one', calls: [['book', 'Bern'] as const] },
];

interface Led {
  threadId: string;
  store: ThreadStore;
  ledgers: ReturnType<typeof ledgersOf>;
}

async function revisionOf({ store, threadId }: Led): Promise<number> {
  return (await store.head(threadId))?.revision ?? 0;
}

function recording(toolName: string, led: Led) {
  const { effects } = led.ledgers;
  return notingTool(
    toolName,
    async () => revisionOf(led),
    (effect) => effects.append(effect),
  );
}

function agentOf(led: Led): Agent {
  const plan = turns.map(({ calls }) => calls);
  return createAgent({
    model: statelessModel(plan, async (prompt, answer) => {
      led.ledgers.prompts.append({ prompt, revision: await revisionOf(led) });
      return answer();
    }),
    tools: { book: recording('book', led), look: recording('look', led) },
    toolApproval: { book: 'user-approval' },
    store: led.store,
    leaseMs: 300,
  });
}

/** Takes the next step of the thread, after steps of any process. */
async function goOn(agent: Agent, { threadId, ledgers }: Led, message: string): Promise<string> {
  const thread = await agent.thread(threadId);
  const isRecorded = thread.messages.some(({ content }) => content === message);
  if (!isRecorded) return (await agent.run(message, thread)).status;
  const answers = thread.activeApprovalRequests.map((request) => request.approve());
  const { status } = await agent.run(answers, thread);
  for (const { requestId, approved } of answers) {
    ledgers.acknowledged.append({ requestId, approved });
  }
  return status;
}

async function lead(led: Led): Promise<string> {
  const agent = agentOf(led);
  for (const { message } of turns) {
    let status = 'running';
    while (status === 'running' || status === 'waiting') status = await goOn(agent, led, message);
    if (status !== 'completed') return status;
  }
  return 'completed';
}

/** Waits until no process holds the lease of the thread: its holder is dead. */
async function outwaitLease({ store, threadId }: Led): Promise<void> {
  for (;;) {
    const head = await store.head(threadId);
    if (head?.status !== 'running' || (head.nextDeadline ?? 0) <= Date.now()) return;
    await setTimeout(5);
  }
}

function openStore(): ThreadStore {
  const store = URL.canParse(database)
    ? postgresStore(new Pool({ connectionString: database }))
    : sqliteStore(database);
  return {
    ...store,
    async append(...input) {
      await store.append(...input);
      console.log('appended');
    },
  };
}

const store = openStore();
const all = threadIds.map((threadId) => ({
  threadId,
  store,
  ledgers: ledgersOf(folder, threadId),
}));
/* Once in memory, so that what is killed is the work, and not the loading of its code. */
const warm = `warm-${process.pid}`;
await lead({ threadId: warm, store: memoryStore(), ledgers: ledgersOf(folder, warm) });
await Promise.all(all.map(outwaitLease));
console.log((await Promise.all(all.map(lead))).join());
process.exit();
