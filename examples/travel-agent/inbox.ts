import {
  type Agent,
  type AgentThread,
  inertText,
  type RunInput,
  type ThreadStore,
} from 'holdpoint';
import { callLine } from './show-call.ts';
import { bold, InputEnded, type Terminal } from './terminal.ts';

/** What is needed to look through the threads of a store. */
export interface Inbox {
  agent: Agent;
  store: ThreadStore;
  terminal: Terminal;
}

/** The thread to begin with, and what to begin with: `[]` goes on where the thread stands. */
export interface Beginning {
  thread: AgentThread;
  input?: RunInput;
}

/** Tells what earlier processes left behind, and lets the person pick one thread up or start a new one. */
export async function chooseBeginning(inbox: Inbox): Promise<Beginning> {
  const { agent, terminal } = inbox;
  const left = await leftThreads(inbox);
  terminal.print(...left.flatMap(({ thread, leaseUntil }) => troubleLines(thread, leaseUntil)));
  const ready = left
    .map(({ thread }) => thread)
    .filter(({ status }) => status === 'waiting' || status === 'idle');
  if (ready.length === 0) return { thread: await agent.thread() };
  terminal.print('', bold('Left from before:'));
  terminal.print(...ready.map((thread, index) => `  ${index + 1}  ${whatWaits(thread)}`));
  return pickOne(ready, inbox);
}

/** One line that says what waits, and how to come back to it. */
export async function farewell({ agent, store }: Omit<Inbox, 'terminal'>): Promise<string> {
  const waiting = await store.list({ status: 'waiting' });
  const [latest, ...others] = waiting.toSorted((one, other) => other.updatedAt - one.updatedAt);
  if (latest === undefined) return 'Nothing is waiting for you. Start again with: npm start';
  const more = others.length === 0 ? '' : `, and ${others.length} more`;
  const what = whatWaits(await agent.thread(latest.threadId));
  return `Waiting for your answer: ${what}${more}. Come back with: npm start`;
}

/* A summary says how a thread stood at its last write. Leases end without one, so the thread itself is asked too. */
async function leftThreads({
  agent,
  store,
}: Inbox): Promise<{ thread: AgentThread; leaseUntil: number | undefined }[]> {
  const lists = await Promise.all([
    store.list({ status: 'waiting' }),
    store.list({ status: 'running' }),
    store.list({ status: 'indeterminate' }),
  ]);
  const summaries = lists.flat().toSorted((one, other) => other.updatedAt - one.updatedAt);
  return Promise.all(
    summaries.map(async ({ threadId, nextDeadline }) => ({
      thread: await agent.thread(threadId),
      leaseUntil: nextDeadline,
    })),
  );
}

async function pickOne(ready: readonly AgentThread[], inbox: Inbox): Promise<Beginning> {
  const { agent, terminal } = inbox;
  for (;;) {
    const answer = await terminal.ask('Type a number, /new, or a new request (Enter takes 1): ');
    if (answer === '/quit' || answer === 'q') throw new InputEnded();
    if (answer === '/new') return { thread: await agent.thread() };
    if (/\s/.test(answer)) return { thread: await agent.thread(), input: answer };
    const picked = ready[Number(answer === '' ? 1 : answer) - 1];
    if (picked !== undefined) return { thread: picked, input: [] };
  }
}

function whatWaits(thread: AgentThread): string {
  const [request] = thread.activeApprovalRequests;
  if (request?.toolCall !== undefined) return callLine(request.toolCall);
  const said = thread.messages.findLast(({ role }) => role === 'user')?.content;
  return `not answered yet: ${inertText(typeof said === 'string' ? said : 'a message')}`;
}

function troubleLines(thread: AgentThread, leaseUntil = 0): string[] {
  const { id, status, calls } = thread;
  if (status === 'running') {
    const seconds = Math.max(1, Math.ceil((leaseUntil - Date.now()) / 1_000));
    return [
      `Conversation ${id} is being run, or its run was cut off: it is free again in ${seconds} s at the latest.`,
    ];
  }
  if (status !== 'indeterminate') return [];
  const started = calls.filter((call) => call.status === 'indeterminate');
  return [
    `Conversation ${id} was cut off while a call ran. Whether it happened is unknown:`,
    ...started.map((call) => `  ${callLine(call)}  (idempotencyKey ${call.idempotencyKey})`),
    '  It is never run again by itself, and must be settled before that conversation goes on.',
  ];
}
