import { z } from 'zod';
import { renderSchemaError } from '../json/field-fault.ts';
import { HoldpointError } from '../errors.ts';
import {
  type EntryContent,
  type EntryJson,
  toEntryJson,
  entryVersion,
  readEntry,
  sealEntry,
  verifyEntry,
} from './log-entry.ts';
import { toJson } from '../json/tagged-json.ts';
import type { ThreadState } from './thread-state.ts';
import type { LogEnd, LogEntry } from './thread-store.ts';

/** A whole thread as JSON, as `JSON.stringify(thread)` writes it and `agent.restore` reads it. */
export interface ThreadJson {
  type: 'holdpoint-thread';
  /** The highest version among the entries. */
  version: number;
  threadId: string;
  /** The number of events, so that a missing end is noticed. */
  revision: number;
  /** The entries of the log, oldest first, each with its events and hash. */
  entries: EntryJson[];
}

/** The JSON form of a thread. */
export function convertThreadToJson({ threadId, events, entries }: ThreadState): ThreadJson {
  let begin = 0;
  return {
    type: 'holdpoint-thread',
    version: entryVersion,
    threadId,
    revision: events.length,
    entries: entries.map(({ revision, ...mark }) => {
      const json = toEntryJson({ events: events.slice(begin, revision), ...mark });
      begin = revision;
      return json;
    }),
  };
}

const threadJsonSchema = z.strictObject({
  type: z.literal('holdpoint-thread'),
  version: z.int().min(1),
  threadId: z.string().min(1),
  revision: z.int().min(0),
  entries: z.array(
    z.custom<{ events: readonly unknown[] }>((entry) =>
      Array.isArray(Reflect.get(Object(entry), 'events')),
    ),
  ),
});

/** Parses the JSON form of a thread, text or object, into its id and log. The hashes are not verified here. */
export function parseThreadJson(json: unknown): { threadId: string; entries: LogEntry[] } {
  const parsed = threadJsonSchema.safeParse(typeof json === 'string' ? parseText(json) : json);
  if (!parsed.success) {
    throw new HoldpointError(
      'invalid-input',
      `Not the JSON form of a thread: ${renderSchemaError(parsed.error)}`,
    );
  }
  const { threadId, version, revision, entries: written } = parsed.data;
  if (version > entryVersion) {
    throw new HoldpointError(
      'unsupported-version',
      `Thread ${threadId} has version ${version}, but this holdpoint reads versions up to ${entryVersion}. Upgrade holdpoint to restore it.`,
    );
  }
  let events = 0;
  const entries = written.map((entry) => {
    events += entry.events.length;
    return sealEntry({ revision: events, text: writeJson(entry) });
  });
  if (events !== revision) {
    throw new HoldpointError(
      'log-tampered',
      `Thread ${threadId} is at revision ${revision}, but its JSON form has ${events} events: some are missing or were added.`,
    );
  }
  for (const entry of entries) refuseDeep(entry);
  return { threadId, entries };
}

function writeJson(json: unknown): string {
  try {
    return JSON.stringify(json);
  } catch (cause) {
    throw new HoldpointError(
      'invalid-input',
      'The JSON form of a thread must be a string or a JSON value.',
      { cause },
    );
  }
}

/* A value that could not be written again must not be restored. */
function refuseDeep(entry: LogEntry): void {
  try {
    toJson(readEntry(entry).events);
  } catch (cause) {
    if (HoldpointError.isInstance(cause)) throw cause;
    throw new HoldpointError('log-tampered', 'The log has a value that holdpoint never writes.', {
      cause,
    });
  }
}

function parseText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new HoldpointError(
      'invalid-input',
      'The JSON form of a thread is not valid JSON. It may have been cut off.',
      {
        cause,
      },
    );
  }
}

/** Verifies a whole log. Returns the contents of its entries. Throws as `verifyEntry` does. */
export async function verifyEntries(entries: readonly LogEntry[]): Promise<EntryContent[]> {
  const contents: EntryContent[] = [];
  let end: LogEnd = { revision: 0, hash: '' };
  for (const entry of entries) {
    const content = await verifyEntry(entry, end);
    contents.push(content);
    end = { revision: entry.revision, hash: content.hash };
  }
  return contents;
}
