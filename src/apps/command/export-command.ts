import { z } from 'zod';
import { convertThreadToJson, type ThreadJson } from '../../thread/thread-json.ts';
import type { ThreadStore } from '../../thread/thread-store.ts';
import { readWholeLog } from '../../worker/whole-log.ts';
import { addStoreOptions, listThreadIds, storeFields, withStore } from './command-store.ts';
import { describeError, type DescribedError, planCommand, toAsciiJson } from './run-command.ts';

/** `holdpoint export` */
export const addExportCommand = planCommand({
  name: 'export [threadId...]',
  summary: 'print whole threads as JSON lines',
  description:
    'Print whole threads, one JSON text a line, for agent.restore, "holdpoint verify --file" and checkAuditTrail. Without ids, all threads. Every entry is verified. They have all that was said, and the principals of who said it.',
  addOptions: addStoreOptions,
  statuses: [
    'all threads were exported',
    'some were changed or do not exist; the others were exported',
    'the store could not be read',
  ],
  schema: z.object({
    ...storeFields,
    args: z.array(z.string()),
    json: z.boolean().optional(),
  }),
  async run({ args, json: isJson, ...named }, world) {
    return withStore(named, world, async (store) => {
      const threads: ThreadJson[] = [];
      const unreadable: ({ threadId: string } & DescribedError)[] = [];
      for await (const threadId of args.length > 0 ? args : listThreadIds(store)) {
        const exported = await exportThread(store, threadId);
        if ('code' in exported) unreadable.push({ threadId, ...exported });
        else if (isJson === true) threads.push(exported);
        else await world.write(`${toAsciiJson(exported)}\n`);
      }
      const lines = unreadable.map(({ threadId, message }) => `${threadId}: ${message}`);
      return {
        status: unreadable.length === 0 ? 0 : 1,
        json: { threads, unreadable },
        ...(lines.length === 0 ? {} : { warning: ['Not exported:', ...lines].join('\n') }),
      };
    });
  },
});

async function exportThread(
  store: ThreadStore,
  threadId: string,
): Promise<ThreadJson | DescribedError> {
  try {
    const { state } = await readWholeLog(store, threadId);
    if (state.events.length > 0) return convertThreadToJson(state);
    return { code: 'not-found', message: 'There is no such thread.' };
  } catch (error) {
    return describeError(error);
  }
}
