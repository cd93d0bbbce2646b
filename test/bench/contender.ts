import type { Agent, AgentThread } from 'holdpoint';

/** The cycle itself: from the user's message to the final text, which it resolves to. Timed. */
type Cycle = () => Promise<string>;

/** A conversation that is stored and not in memory yet, with nothing of other cycles in it. */
interface StoredConversation {
  /** What a process does before the message comes: build tools and agent, load the conversation. Timed apart. */
  open(): Promise<Cycle>;
}

/** Who runs, by what tables call them. */
export const contenderNames = {
  bare: 'bare loop over doGenerate',
  ai: "ai's own generateText",
  memory: 'holdpoint, memory, shared store',
  json: 'holdpoint, memory, JSON alone',
  sqlite: 'holdpoint, SQLite, shared file',
} as const;

/** A contender's short name. */
export type ContenderKey = keyof typeof contenderNames;

/** One way to write an approval cycle. */
export interface Contender {
  key: ContenderKey;
  /** Makes a fresh copy of the conversation. Not timed. */
  prepare(): Promise<StoredConversation>;
}

/** What the user says in every cycle. */
export const userText = 'Please make the transfers.';

/** Approves all that is open, runs the thread to its end, and gives its final text. */
export async function approveAll(agent: Agent, thread: AgentThread): Promise<string> {
  const answers = thread.activeApprovalRequests.map((request) => request.approve());
  const response = await agent.run(answers, thread);
  return response.text;
}
