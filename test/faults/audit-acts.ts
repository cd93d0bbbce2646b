import { isDeepStrictEqual } from 'node:util';
import type { ThreadEvent } from 'holdpoint';
import { type Person, whoIs } from './shared-people.ts';

/* What the log may record of somebody who does something. */
const recordedOf = {
  say: ['message-added', 'run-started', 'request-closed', 'call-ended'],
  answer: ['request-answered', 'request-voted', 'run-started'],
  /* After a stop, the same words of the same person are a new message. */
  'send again': ['message-added', 'request-answered', 'request-voted', 'run-started'],
  withdraw: ['vote-withdrawn'],
  resume: ['run-started'],
  stop: ['stop-requested', 'request-closed', 'call-ended'],
  cancel: ['request-closed', 'call-ended'],
  deliver: ['call-ended'],
  look: [],
} satisfies Record<string, ThreadEvent['type'][]>;

/** What somebody does. */
export type Deed = keyof typeof recordedOf;

/** Who really did what, and the part of the log that was written meanwhile. */
export interface Act {
  deed: Deed;
  /** `undefined` for a worker. */
  principal: unknown;
  from: number;
  to: number;
}

/** Recorded acts of people who did not do them, and words whose author is another. */
export function auditActs(
  events: readonly ThreadEvent[],
  { acts, said }: { acts: readonly Act[]; said: readonly Person[] },
): string[] {
  const added: ThreadEvent[] = [];
  return events.flatMap((event, index) => {
    const faults: string[] = [];
    if (isAct(event) && !acts.some((act) => isRecordOf(act, event, index))) {
      faults.push(`Event ${index + 1}, ${describe(event)}, is recorded: they did not do that.`);
    }
    if (event.type === 'message-added' && event.place === undefined) {
      added.push(event);
      const id = numberIn(event);
      const author = id === undefined ? undefined : said[id];
      if (author !== whoIs(event.principal)) {
        faults.push(`The words of ${author} are recorded as ${describe(event)}.`);
      }
    }
    if (event.type === 'message-retracted') {
      const taken = added.pop();
      const author = taken === undefined ? undefined : whoOf(taken);
      if (author !== whoIs(event.principal)) {
        faults.push(`The words of ${author} are taken back: ${describe(event)}.`);
      }
    }
    return faults;
  });
}

type NamingEvent = Extract<ThreadEvent, { principal?: unknown }>;

function isRecordOf({ deed, principal, from, to }: Act, event: NamingEvent, index: number) {
  const types: readonly string[] = recordedOf[deed];
  const isCovered = from <= index && index < to && types.includes(event.type);
  return isCovered && isDeepStrictEqual(principal, event.principal);
}

const always = new Set<ThreadEvent['type']>([
  'run-started',
  'message-added',
  'message-retracted',
  'request-answered',
  'request-voted',
  'stop-requested',
]);
const named = new Set<ThreadEvent['type']>(['call-ended', 'vote-withdrawn']);

/* What people do, and not what the agent does by itself. */
function isAct(event: ThreadEvent): event is NamingEvent {
  if (always.has(event.type)) return true;
  if (event.type === 'request-closed') return event.cause === 'cancelled';
  return named.has(event.type) && 'principal' in event && event.principal !== undefined;
}

function whoOf(event: ThreadEvent): Person | undefined {
  return 'principal' in event ? whoIs(event.principal) : undefined;
}

function describe(event: ThreadEvent): string {
  return `${event.type} by ${whoOf(event) ?? 'nobody'}`;
}

function numberIn(event: Extract<ThreadEvent, { type: 'message-added' }>): number | undefined {
  const [, id] = /#(\d+)/.exec(JSON.stringify(event.message.content)) ?? [];
  return id === undefined ? undefined : Number(id);
}
