import { z } from 'zod';
import { HoldpointError } from '../errors.ts';
import { eventVersion, parseEvents, upgradeEvent } from './event-text.ts';
import { toJson } from './tagged-json.ts';
import type { ThreadEvent } from './thread-event.ts';
import type { ThreadState } from './thread-state.ts';

const threadJsonSchema = z.strictObject({
  type: z.literal('holdpoint-thread'),
  /** The version of the events. */
  version: z.int().min(1),
  threadId: z.string().min(1),
  /** How many events there are, so that none can be missing at the end. */
  revision: z.int().min(0),
  events: z.array(z.unknown()),
});

/** The whole of a thread as JSON: what `JSON.stringify(thread)` writes and `agent.restore` reads. */
export type ThreadJson = z.infer<typeof threadJsonSchema>;

/** The JSON form of a thread. */
export function threadToJson(state: ThreadState): ThreadJson {
  return {
    type: 'holdpoint-thread',
    version: eventVersion,
    threadId: state.threadId,
    revision: state.events.length,
    events: state.events.map((event) => toJson(event)),
  };
}

/** A thread's id and events out of its JSON form, text or object. */
export function parseThreadJson(json: unknown): { threadId: string; events: ThreadEvent[] } {
  const text = typeof json === 'string' ? json : textOf(json);
  const parsed = threadJsonSchema.safeParse(typeof json === 'string' ? parseText(json) : json);
  if (!parsed.success) {
    throw new HoldpointError(
      'invalid-input',
      `This is not the JSON form of a thread: ${z.prettifyError(parsed.error)}`,
    );
  }
  const { threadId, version, revision, events } = parsed.data;
  const current =
    version === eventVersion ? events : events.map((event) => upgradeEvent(event, version));
  refuseDeep(current);
  if (events.length !== revision) {
    throw new HoldpointError(
      'log-tampered',
      `The thread is at revision ${revision}, and its JSON form has ${events.length} events.`,
    );
  }
  return { threadId, events: parseEvents(current, text) };
}

function textOf(json: unknown): string {
  try {
    return JSON.stringify(json) ?? '';
  } catch (cause) {
    throw new HoldpointError('invalid-input', 'The JSON form of a thread is not JSON.', { cause });
  }
}

/* What could not be written again must not come in. */
function refuseDeep(events: readonly unknown[]): void {
  try {
    toJson(events);
  } catch (cause) {
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
