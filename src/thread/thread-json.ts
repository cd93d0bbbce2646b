import { z } from 'zod';
import { HoldpointError } from '../errors.ts';
import { entryJson, entryVersion, readEntry, sealed } from './log-entry.ts';
import { toJson } from './tagged-json.ts';
import type { ThreadState } from './thread-state.ts';
import type { LogEntry } from './thread-store.ts';

const threadJsonSchema = z.strictObject({
  type: z.literal('holdpoint-thread'),
  /** The newest version among the entries. */
  version: z.int().min(1),
  threadId: z.string().min(1),
  /** How many events there are, so that none can be missing at the end. */
  revision: z.int().min(0),
  /** What was appended, oldest first: the events, and the hash of each append. */
  entries: z.array(
    z.custom<{ events: readonly unknown[] }>((entry) =>
      Array.isArray(Reflect.get(Object(entry), 'events')),
    ),
  ),
});

/** The whole of a thread as JSON: what `JSON.stringify(thread)` writes and `agent.restore` reads. */
export type ThreadJson = z.infer<typeof threadJsonSchema>;

/** The JSON form of a thread. */
export function threadToJson({ threadId, events, entries }: ThreadState): ThreadJson {
  let begin = 0;
  return {
    type: 'holdpoint-thread',
    version: entryVersion,
    threadId,
    revision: events.length,
    entries: entries.map(({ revision, ...mark }) => {
      const json = entryJson({ events: events.slice(begin, revision), ...mark });
      begin = revision;
      return json;
    }),
  };
}

/** A thread's id and log out of its JSON form, text or object. The hashes are not verified here. */
export function parseThreadJson(json: unknown): { threadId: string; entries: LogEntry[] } {
  const parsed = threadJsonSchema.safeParse(typeof json === 'string' ? parseText(json) : json);
  if (!parsed.success) {
    throw new HoldpointError(
      'invalid-input',
      `This is not the JSON form of a thread: ${z.prettifyError(parsed.error)}`,
    );
  }
  const { threadId, version, revision, entries: written } = parsed.data;
  if (version > entryVersion) {
    throw new HoldpointError(
      'unsupported-version',
      `The thread has version ${version}; this holdpoint reads up to ${entryVersion}. Upgrade holdpoint to open it.`,
    );
  }
  let events = 0;
  const entries = written.map((entry) => {
    events += entry.events.length;
    return sealed(events, textOf(entry));
  });
  if (events !== revision) {
    throw new HoldpointError(
      'log-tampered',
      `The thread is at revision ${revision}, and its JSON form has ${events} events.`,
    );
  }
  for (const entry of entries) refuseDeep(entry);
  return { threadId, entries };
}

function textOf(json: unknown): string {
  try {
    return JSON.stringify(json);
  } catch (cause) {
    throw new HoldpointError('invalid-input', 'The JSON form of a thread is not JSON.', { cause });
  }
}

/* What could not be written again must not come in. */
function refuseDeep(entry: LogEntry): void {
  try {
    toJson(readEntry(entry).events);
  } catch (cause) {
    if (HoldpointError.isInstance(cause)) throw cause;
    throw new HoldpointError('log-tampered', 'The log holds what holdpoint never writes.', {
      cause,
    });
  }
}

function parseText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new HoldpointError('invalid-input', 'The JSON form of a thread is cut off or damaged.', {
      cause,
    });
  }
}
