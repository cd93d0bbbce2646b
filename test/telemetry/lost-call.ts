import { tool } from 'ai';
import { memoryStore } from 'holdpoint';
import { scriptedModel } from '../support/scripted-model.ts';
import { book, cityInput, travelWorld } from '../support/travel-world.ts';

/** A thread whose approved call is started and never ends, and an agent of another process that opens it after the lease is over. */
export async function lostCall() {
  const store = memoryStore();
  const begun = Promise.withResolvers<void>();
  const played = scriptedModel([{ calls: [book('c1', 'Paris')] }], { repeat: true });
  const world = travelWorld(played, () => store);
  const hanging = tool({
    description: 'book a flight',
    inputSchema: cityInput,
    execute: async () => {
      begun.resolve();
      return new Promise(() => {});
    },
  });
  const stuck = world.agent({ tools: { book: hanging }, abortGraceMs: 0 });
  const { approvalRequests, thread } = await stuck.run('Book', await stuck.thread('t'));
  const answers = approvalRequests.map((request) => request.approve());
  const abort = new AbortController();
  const running = stuck.run(answers, thread, { abortSignal: abort.signal });
  await begun.promise;
  const later = world.agent({ tools: { book: hanging }, now: () => Date.now() + 3_600_000 });
  return {
    agent: later,
    open: async () => later.thread('t'),
    async [Symbol.asyncDispose]() {
      abort.abort();
      await running.catch(() => {});
    },
  };
}
