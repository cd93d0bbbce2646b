import { z } from 'zod';
import { fillRequests } from '../thread/fill-requests.ts';
import type { ThreadStore } from '../thread/thread-store.ts';
import { addStoreOptions, storeFields, withStore } from './command-store.ts';
import { type DescribedError, describeError, planCommand } from './run-command.ts';

/** `holdpoint fill-requests` */
export const addFillCommand = planCommand({
  name: 'fill-requests',
  summary: 'add the requests of threads of an older version to the rows',
  description:
    'Add the requests of threads that an older version has written to the rows of the store. Run it once, when all processes run the new version; agents and workers may go on meanwhile. It can be run again.',
  addOptions: addStoreOptions,
  statuses: [
    'all threads were read',
    'some threads could not be read',
    'the store could not be opened',
  ],
  schema: z.object(storeFields),
  async run(named, world) {
    const unreadable: ({ threadId: string } & DescribedError)[] = [];
    const fill = async (store: ThreadStore) =>
      fillRequests(store, {
        report: ({ threadId, error }) => {
          if (error !== undefined) unreadable.push({ threadId, ...describeError(error) });
        },
      });
    /* A database that has no threads gets no tables. */
    await withStore(named, world, async (store) => store.count({}));
    const { threads, requests } = await withStore(named, world, fill, { createSchema: true });
    const text = `Threads that were read: ${threads}, with ${requests} requests.`;
    const json = { threads, requests, unreadable };
    if (unreadable.length === 0) return { status: 0, json, text };
    const lines = unreadable.map(({ threadId, message }) => `${threadId}: ${message}`);
    return { status: 1, json, text, warning: ['Could not be read:', ...lines].join('\n') };
  },
});
