import { type Agent, type AgentThread, inertLine, type ThreadStore } from 'holdpoint';
import type { Person } from './person.ts';

const anew = 'A new conversation';

/** What is needed to look through the threads of a store. */
interface LeftThreads {
  agent: Agent;
  store: ThreadStore;
  person: Person;
}

/** The thread to begin with, and what is said in it first; `''` goes on where it stands. */
interface Beginning {
  thread: AgentThread;
  wish: string;
}

/** What an earlier start left behind; of several what the person picks, or something new. */
export async function chooseBeginning({ agent, store, person }: LeftThreads): Promise<Beginning> {
  const left = await Promise.all((await leftIds(store)).map((id) => agent.thread(id)));
  const titles = left.map((thread, index) => `${index + 1}. ${titleOf(thread)}`);
  const [only, ...others] = left;
  if (only === undefined) return { thread: await agent.thread(), wish: '' };
  if (others.length === 0) {
    person.hears('', `Left from before: ${titleOf(only)}`);
    return { thread: only, wish: '' };
  }
  const picked = await person.picks('Left from before. Go on with which?', [...titles, anew]);
  const thread = left[titles.indexOf(picked)];
  if (thread !== undefined) return { thread, wish: '' };
  return { thread: await agent.thread(), wish: picked === anew ? '' : picked };
}

/** One line that says whether something waits, and how to come back to it. */
export async function farewell(store: ThreadStore): Promise<string> {
  const { length } = await leftIds(store);
  if (length === 0) return 'Nothing waits for you. Start again with: npm start';
  const what = length === 1 ? 'A conversation waits' : `${length} conversations wait`;
  return `${what} for you. Come back with: npm start`;
}

/* Those that wait for somebody, those that a process held when it ended or has failed at too often, and those whose model has yet to speak. */
async function leftIds(store: ThreadStore): Promise<string[]> {
  const lists = await Promise.all([
    store.list({ status: 'waiting' }),
    store.list({ status: 'running' }),
    store.list({ status: 'indeterminate' }),
    store.list({ status: 'stuck' }),
    store.list({ dueBefore: Date.now() + 1 }),
  ]);
  const newestFirst = lists.flat().toSorted((one, other) => other.updatedAt - one.updatedAt);
  return [...new Set(newestFirst.map(({ threadId }) => threadId))];
}

/** What the person wished last. */
function titleOf(thread: AgentThread): string {
  const said = thread.messages.findLast(({ role }) => role === 'user')?.content;
  return inertLine(typeof said === 'string' ? said : 'a conversation');
}
