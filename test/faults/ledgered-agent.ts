import { join } from 'node:path';
import { type Agent, type AgentOptions, createAgent } from 'holdpoint';
import { type SqliteStore, sqliteStore } from 'holdpoint/stores/sqlite';
import { ledgersOf } from './ledger-file.ts';
import { notingTool } from './noting-tool.ts';
import { statelessModel } from './stateless-model.ts';

/** A thread in a database of its own, and beside it the ledgers of what its agents did. */
export interface LedgeredThread extends Disposable {
  threadId: string;
  store: SqliteStore;
  ledgers: ReturnType<typeof ledgersOf>;
}

const message = 'Look and book';
const calls = [['look', 'Oslo'] as const, ['book', 'Paris'] as const];

/** The thread of an id, in a folder; its database is made where there is none. */
export function ledgeredThread(folder: string, threadId: string): LedgeredThread {
  const store = sqliteStore(join(folder, `${threadId}.sqlite`));
  const ledgers = ledgersOf(folder, threadId);
  return { threadId, store, ledgers, [Symbol.dispose]: () => store.close() };
}

/** An agent that looks at once and books when it may; its ledgers outlive it. */
export function ledgeredAgent(
  { threadId, store, ledgers }: LedgeredThread,
  options: Partial<AgentOptions>,
): Agent {
  const revision = async (): Promise<number> => (await store.head(threadId))?.revision ?? 0;
  const recording = (toolName: string) =>
    notingTool(toolName, revision, (effect) => ledgers.effects.append(effect));
  const agentOptions: AgentOptions = {
    model: statelessModel([calls], async (prompt, answer) => {
      ledgers.prompts.append({ prompt, revision: await revision() });
      return answer();
    }),
    tools: { book: recording('book'), look: recording('look') },
    toolApproval: { book: 'user-approval' },
    store,
    maxRetries: 0,
    ...options,
  };
  return createAgent(agentOptions);
}

/** Sends what is due: the message if it never got into the thread, else approvals of what is asked, else nothing. */
export async function sendNext(
  agent: Agent,
  { threadId, ledgers }: LedgeredThread,
): Promise<string> {
  const thread = await agent.thread(threadId);
  if (thread.messages.length === 0) return (await agent.run(message, thread)).status;
  const answers = thread.activeApprovalRequests.map((request) => request.approve());
  const { status } = await agent.run(answers, thread);
  for (const { requestId, approved } of answers) {
    ledgers.acknowledged.append({ requestId, approved });
  }
  return status;
}
