import { type FileHandle, open } from 'node:fs/promises';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { z } from 'zod';
import { deleteThreads } from '../../worker/delete-threads.ts';
import { threadStatuses } from '../../thread/thread-store.ts';
import { addStoreOptions, storeFields, withStore } from './command-store.ts';
import { planCommand, UsageError } from './run-command.ts';

const statuses = threadStatuses.filter((status) => status !== 'running');

const dayMs = 24 * 60 * 60 * 1_000;

/** `holdpoint delete` */
export const addDeleteCommand = planCommand({
  name: 'delete',
  summary: 'delete old threads, after archiving them if wanted',
  description:
    'Delete the threads of an agent in which nothing has happened for so many days, with the threads of their sub-agents and their requests, and the changes of requests that are as old. With --archive, each is written there first, as "holdpoint export" would print it. Agents and workers may go on meanwhile.',
  addOptions: (command) => addFilters(addStoreOptions(command)),
  statuses: [
    'all threads that were selected are deleted, perhaps none',
    'some were kept, and named',
    'the store or the archive could not be used; what was archived before may be deleted',
  ],
  schema: z.object({
    ...storeFields,
    days: z.number(),
    status: z.enum(statuses),
    /* `false`: --no-agent. */
    agent: z.union([z.string(), z.literal(false)]).optional(),
    limit: z.number().exactOptional(),
    archive: z.string().optional(),
    json: z.boolean().optional(),
  }),
  async run({ days, agent, archive: file, store, postgres, json: _json, ...filter }, world) {
    if (agent === undefined) {
      throw new UsageError(
        'Name the agent whose threads to delete: --agent <name>, or --no-agent for those without a name.',
      );
    }
    const kept: { threadId: string; reason: string }[] = [];
    const archive = file === undefined ? undefined : await openArchive(file);
    try {
      const before = (world.now ?? Date.now)() - days * dayMs;
      const { deleted, changes } = await withStore({ store, postgres }, world, async (opened) => ({
        ...(await deleteThreads(opened, {
          ...filter,
          updatedBefore: before,
          agent: agent === false ? null : agent,
          ...(archive && { archive: archive.write }),
          report: (each) => kept.push(each),
        })),
        changes: (await opened.requests?.deleteChanges({ before })) ?? 0,
      }));
      const ofFeed = changes === 0 ? '' : ` Changes of requests: ${changes}.`;
      const text = `Deleted: ${deleted}.${ofFeed}`;
      const json = { deleted, changes, kept };
      if (kept.length === 0) return { status: 0, json, text };
      const lines = kept.map(({ threadId, reason }) => `${threadId}: ${reason}`);
      return { status: 1, json, text, warning: ['Kept:', ...lines].join('\n') };
    } finally {
      await archive?.close();
    }
  },
});

function addFilters(command: Command): Command {
  return command
    .addOption(
      new Option('--days <n>', 'for how many days nothing has happened in them')
        .argParser(parseDays)
        .makeOptionMandatory(),
    )
    .addOption(new Option('--status <status>', 'of this status').choices(statuses).default('idle'))
    .option('--agent <name>', 'of the agent of this name')
    .option('--no-agent', 'of agents without a name')
    .option('--limit <n>', 'how many at most, the oldest first', parseLimit)
    .option('--archive <file>', 'append them to this file first, as JSON lines');
}

function parseDays(text: string): number {
  if (/^\d{1,5}(\.\d{1,3})?$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a number of days, such as 90.');
}

function parseLimit(text: string): number {
  if (/^[1-9]\d{0,8}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number of 1 or more.');
}

/*
 * Only its owner can read it, as it has all that was said. A batch is on the disk before it is deleted. A line that was cut off, such as by
 * a full disk, is ended first: it would spoil the next one, whose thread is then deleted.
 */
async function openArchive(path: string) {
  const file = await open(path, 'a+', 0o600);
  let start = (await lacksLineEnd(file)) ? '\n' : '';
  return {
    write: async (lines: readonly string[]): Promise<void> => {
      await file.appendFile(start + lines.map((line) => `${line}\n`).join(''));
      start = '';
      await file.sync();
    },
    close: async () => file.close(),
  };
}

/** Checks whether the last line of a file has no end. */
async function lacksLineEnd(file: FileHandle): Promise<boolean> {
  const { size } = await file.stat();
  if (size === 0) return false;
  const { buffer } = await file.read({ buffer: Buffer.alloc(1), position: size - 1 });
  return buffer.toString() !== '\n';
}
