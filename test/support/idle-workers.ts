import type { Agent, ThreadStore } from 'holdpoint';
import { resumeThread, runWorker } from 'holdpoint/worker';
import { aroundAgent } from './around-agent.ts';

/** A process with an agent and its own connection to the store. */
export interface WorkingProcess {
  agent: Agent;
  store: ThreadStore;
}

/** Runs what is due until a worker finds nothing more. */
export async function workUntilIdle({ agent, store }: WorkingProcess): Promise<void> {
  const stopping = new AbortController();
  const { signal } = stopping;
  const watched: ThreadStore = {
    ...store,
    claim: async (selection) => {
      const claimed = await store.claim(selection);
      if (selection.threadId === undefined && claimed.length === 0) stopping.abort();
      return claimed;
    },
  };
  await runWorker({ agent: aroundAgent(agent), store: watched, signal, concurrency: 1, pollMs: 2 });
}

/** How processes continue threads that were answered with `agent.respond`. */
export const continuations: {
  name: string;
  proceed(startProcess: () => WorkingProcess, threadId: string): Promise<void>;
}[] = [
  {
    name: 'two workers',
    proceed: async (startProcess) => {
      await Promise.all([startProcess(), startProcess()].map(workUntilIdle));
    },
  },
  {
    name: 'the jobs of a queue',
    proceed: async (startProcess, threadId) => {
      const jobs = [startProcess(), startProcess()];
      await Promise.all(jobs.map(async ({ agent }) => resumeThread(agent, threadId)));
    },
  },
];
