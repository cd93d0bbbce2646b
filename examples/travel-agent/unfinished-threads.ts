import { type Agent, type AgentThread, inertLine, type ThreadStore } from 'holdpoint';
import type { Person } from './person.ts';

const newConversation = 'A new conversation';

/** What `chooseThread` needs. */
interface Context {
  agent: Agent;
  store: ThreadStore;
  person: Person;
}

/** The thread to start with, and the first message; `''` resumes the thread. */
interface Beginning {
  thread: AgentThread;
  wish: string;
}

/** The unfinished thread of an earlier start; if there are several, the one that the person picks, or a new one. */
export async function chooseThread({ agent, store, person }: Context): Promise<Beginning> {
  const left = await Promise.all((await unfinishedIds(store)).map((id) => agent.thread(id)));
  const titles = left.map((thread, index) => `${index + 1}. ${titleOf(thread)}`);
  const [only, ...others] = left;
  if (only === undefined) return { thread: await agent.thread(), wish: '' };
  if (others.length === 0) {
    person.print('', `Unfinished: ${titleOf(only)}`);
    return { thread: only, wish: '' };
  }
  const picked = await person.pick('Which conversation do you want to continue?', [
    ...titles,
    newConversation,
  ]);
  const thread = left[titles.indexOf(picked)];
  if (thread !== undefined) return { thread, wish: '' };
  return { thread: await agent.thread(), wish: picked === newConversation ? '' : picked };
}

/** A line that says whether a conversation waits, and how to come back to it. */
export async function farewell(store: ThreadStore): Promise<string> {
  const { length } = await unfinishedIds(store);
  if (length === 0) return 'Nothing waits for you. Start again with: npm start';
  const what = length === 1 ? 'A conversation waits' : `${length} conversations wait`;
  return `${what} for you. Come back with: npm start`;
}

/* Threads that wait for a person, were interrupted with their process, failed too often, or wait for the model's next step. */
async function unfinishedIds(store: ThreadStore): Promise<string[]> {
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

/** The person's last message. */
function titleOf(thread: AgentThread): string {
  const said = thread.messages.findLast(({ role }) => role === 'user')?.content;
  return inertLine(typeof said === 'string' ? said : 'a conversation');
}
