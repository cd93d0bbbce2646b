import { readFile } from 'node:fs/promises';
import { Option } from 'commander';
import { z } from 'zod';
import { readPages } from '../../content/read-pages.ts';
import { inertLine } from '../../content/inert-text.ts';
import { HoldpointError } from '../../errors.ts';
import { parseThreadJson, verifyEntries } from '../../thread/thread-json.ts';
import type { StoredRequest, ThreadStoreRequests } from '../../thread/thread-store-requests.ts';
import type { LogEnd, ThreadStore } from '../../thread/thread-store.ts';
import { readWholeLog } from '../../worker/whole-log.ts';
import { addStoreOptions, listThreadIds, storeFields, withStore } from './command-store.ts';
import { type CommandEnd, describeError, type DescribedError, planCommand } from './run-command.ts';

/** The verdict on a thread: the end of its log, or the problem with it. */
type Finding = { threadId: string } & (LogEnd | { error: DescribedError });

/** `holdpoint verify` */
export const addVerifyCommand = planCommand({
  name: 'verify [threadId...]',
  summary: 'verify threads: hashes, snapshots, rows',
  description:
    'Verify threads: the hashes of every entry, the snapshot, and the rows of requests that the store keeps beside the log. Without ids, all threads, and that no row is of a thread that does not exist.',
  addOptions: (command) =>
    addStoreOptions(command).addOption(
      new Option('--file <jsonl>', 'verify what "holdpoint export" has written instead').conflicts([
        'store',
        'postgres',
      ]),
    ),
  statuses: [
    'all are sound',
    'something was changed, is missing or was added',
    'the store or the file could not be read',
  ],
  schema: z.object({
    ...storeFields,
    args: z.array(z.string()),
    file: z.string().optional(),
  }),
  async run({ args, file, ...named }, world) {
    const findings =
      file === undefined
        ? await withStore(named, world, async (store) => verifyStore(store, args))
        : await verifyFile(file, args);
    return report(findings);
  },
});

async function verifyStore(store: ThreadStore, named: readonly string[]): Promise<Finding[]> {
  const findings: Finding[] = [];
  for await (const threadId of named.length > 0 ? named : listThreadIds(store)) {
    findings.push(await verifyThread(threadId, async () => verifyStored(store, threadId)));
  }
  if (named.length > 0 || store.requests === undefined) return findings;
  const known = new Set(findings.map(({ threadId }) => threadId));
  return [...findings, ...(await findStrayRows(store, store.requests, known))];
}

async function verifyThread(threadId: string, verify: () => Promise<LogEnd>): Promise<Finding> {
  try {
    return { threadId, ...(await verify()) };
  } catch (error) {
    return { threadId, error: describeError(error) };
  }
}

async function verifyStored(store: ThreadStore, threadId: string): Promise<LogEnd> {
  const log = await readWholeLog(store, threadId);
  await log.verify();
  return requireEntries(threadId, log.state.entries.at(-1));
}

function requireEntries(threadId: string, end: LogEnd | undefined): LogEnd {
  if (end === undefined) throw makeMissingError(threadId);
  const { revision, hash } = end;
  return { revision, hash };
}

function makeMissingError(threadId: string): HoldpointError {
  return new HoldpointError('not-found', `There is no thread ${threadId}.`);
}

/** Rows of threads that don't exist. */
async function findStrayRows(
  store: ThreadStore,
  requests: ThreadStoreRequests,
  known: ReadonlySet<string>,
): Promise<Finding[]> {
  const strays = new Map<string, Finding>();
  const readPage = async (after?: StoredRequest) => requests.list({ after });
  for await (const rows of readPages(readPage)) {
    for (const { threadId, requestId } of rows) {
      if (known.has(threadId) || strays.has(threadId)) continue;
      /* A thread may have been created, or deleted with its rows, since the others were verified. */
      const exists = (await store.head(threadId)) !== undefined;
      if (exists || (await requests.get(requestId)) === undefined) continue;
      const message = `The store has request ${requestId} of it, but no such thread.`;
      strays.set(threadId, { threadId, error: { code: 'log-tampered', message } });
    }
  }
  return [...strays.values()];
}

async function verifyFile(file: string, named: readonly string[]): Promise<Finding[]> {
  const lines = (await readFile(file, 'utf8')).split('\n').filter((line) => line.trim() !== '');
  const findings: Finding[] = [];
  for (const [index, line] of lines.entries()) {
    let threadId = `line ${index + 1}`;
    const finding = await verifyThread(threadId, async () => {
      const json = parseThreadJson(line);
      threadId = json.threadId;
      const contents = await verifyEntries(json.entries);
      const { revision = 0 } = json.entries.at(-1) ?? {};
      return { revision, hash: contents.at(-1)?.hash ?? '' };
    });
    if (named.length === 0 || named.includes(threadId)) findings.push({ ...finding, threadId });
  }
  const found = new Set(findings.map(({ threadId }) => threadId));
  const missing = named.filter((threadId) => !found.has(threadId));
  return findings.concat(
    missing.map((threadId) => ({
      threadId,
      error: describeError(makeMissingError(threadId)),
    })),
  );
}

function report(findings: readonly Finding[]): CommandEnd {
  const faults = findings.filter((finding) => 'error' in finding).length;
  const lines = findings.map((finding) =>
    'error' in finding
      ? `FAULT ${inertLine(finding.threadId)}: ${inertLine(finding.error.message)}`
      : `sound ${inertLine(finding.threadId)}: ${finding.revision} events, hash ${finding.hash}`,
  );
  const sum = `${findings.length - faults} sound, ${faults} with a fault`;
  return {
    status: faults === 0 ? 0 : 1,
    json: { threads: findings, sound: findings.length - faults, faults },
    inert: [...lines, sum].join('\n'),
  };
}
