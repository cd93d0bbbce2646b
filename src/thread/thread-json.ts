import { type EntryJson, toEntryJson, entryVersion } from './log-entry.ts';
import type { ThreadState } from './thread-state.ts';

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
