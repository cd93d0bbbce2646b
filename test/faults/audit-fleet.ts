import type { ThreadEvent } from 'holdpoint';
import { z } from 'zod';
import { type CallHistory, callOf } from './call-histories.ts';
import type { Effect, Evidence } from './evidence.ts';

/** What is wrong with a thread that several processes, agents and copies share. */
export function fleetFaults(evidence: Evidence, calls: readonly CallHistory[]): string[] {
  const { effects, runs = effects, questions = [] } = evidence;
  return [
    ...changedKeys([...runs, ...questions]),
    ...keyFaults([...effects, ...runs, ...questions], evidence, calls),
    ...[...new Set([...effects, ...runs])].flatMap((run) => leaseFaults(run, evidence, calls)),
    ...repeatedMessages(evidence.events),
    ...ownerFaults(evidence),
    ...stoppedFaults(evidence.events),
    ...endedTurnFaults(evidence.events),
  ];
}

function changedKeys(reached: readonly Effect[]): string[] {
  const byCall = Map.groupBy(reached, ({ toolCallId }) => toolCallId);
  return [...byCall]
    .filter(([, same]) => new Set(same.map(({ idempotencyKey }) => idempotencyKey)).size > 1)
    .map(([id]) => `The tool was given two keys for ${id}.`);
}

const hashSchema = z.object({ hash: z.string() });

/** The key that every copy of the thread gives a call: the hash of the entry that proposed it, and its place. */
export function keyOf(
  { proposed, place }: Pick<CallHistory, 'proposed' | 'place'>,
  entries: NonNullable<Evidence['entries']>,
): string {
  const entry = entries.find(({ revision }) => revision >= proposed);
  const { hash } = hashSchema.parse(JSON.parse(entry?.text ?? '{}'));
  return `${hash}.${place}`;
}

function keyFaults(
  reached: readonly Effect[],
  { entries, outside }: Evidence,
  calls: readonly CallHistory[],
): string[] {
  if (entries === undefined) return [];
  const wrong = reached.filter((each) => {
    const call = callOf(each, calls);
    /* Who does it without the agent has no key of the agent's. */
    if (call === undefined || outside?.has(call.toolName) === true) return false;
    return each.idempotencyKey !== keyOf(call, entries);
  });
  return [...new Set(wrong.map(({ toolCallId }) => toolCallId))].map(
    (id) => `The key of ${id} is not read off the log.`,
  );
}

/** An attempt begins while its run holds the thread, by the log and by the clock of whoever runs it. */
function leaseFaults(run: Effect, { events }: Evidence, calls: readonly CallHistory[]): string[] {
  const { begun, revision } = run;
  const call = callOf(run, calls);
  if (begun === undefined || call === undefined) return [];
  const started = call.started[begun.attempt - 1];
  if (started === undefined || started > revision)
    return [`Attempt ${begun.attempt} of call ${call.label} ran, and had not begun.`];
  const holder = events.slice(0, started).findLast((event) => event.type === 'run-started');
  const leases = events
    .slice(0, revision)
    .flatMap((event) =>
      (event.type === 'run-started' || event.type === 'run-renewed') &&
      event.runId === holder?.runId
        ? [event.leaseUntil]
        : [],
    );
  if (begun.now < (leases.at(-1) ?? 0)) return [];
  return [`Attempt ${begun.attempt} of call ${call.label} began when its lease was over.`];
}

/** The ids that clients gave their messages, in the order of the log; those of messages that were withdrawn are free again. */
export function messageIdsIn(events: readonly ThreadEvent[]): string[] {
  const said: unknown[] = [];
  for (const event of events) {
    if (event.type === 'message-added')
      said.push(event.message.providerOptions?.['holdpoint']?.['messageId']);
    else if (event.type === 'message-retracted') said.pop();
  }
  return said.filter((messageId) => typeof messageId === 'string');
}

/** Once somebody wants a run to end, the log has it decide and begin nothing any more. */
function stoppedFaults(events: readonly ThreadEvent[]): string[] {
  let stopping: string | undefined;
  return events.flatMap((event) => {
    if (event.type === 'stop-requested') stopping = event.runId;
    else if (event.type === 'run-ended' || event.type === 'run-started') stopping = undefined;
    else if (stopping !== undefined && isDecision(event))
      return [`Run ${stopping} was to end, and then there is ${event.type}.`];
    return [];
  });
}

/** Once a person has ended a turn, the model says nothing before the next message, answer, released approval, or delivered result. */
function endedTurnFaults(events: readonly ThreadEvent[]): string[] {
  let isEnded = false;
  return events.flatMap((event) => {
    if (event.type === 'run-ended' && event.stopped === true) isEnded = true;
    else if (beginsAgain(event)) isEnded = false;
    else if (isEnded && event.type === 'step-finished')
      return ['A turn was stopped, and then the model was asked.'];
    return [];
  });
}

function beginsAgain(event: ThreadEvent): boolean {
  if (event.type === 'call-ended') return event.source === 'delivered';
  return (
    event.type === 'message-added' ||
    event.type === 'request-answered' ||
    event.type === 'approvals-released'
  );
}

function isDecision(event: ThreadEvent): boolean {
  if (event.type === 'step-finished') return event.finishReason !== 'interrupted';
  return event.type === 'call-started';
}

function repeatedMessages(events: readonly ThreadEvent[]): string[] {
  return [...Map.groupBy(messageIdsIn(events), (messageId) => messageId)]
    .filter(([, same]) => same.length > 1)
    .map(([messageId, same]) => `Message ${messageId} is in the log ${same.length} times.`);
}

/* What has happened is recorded, whosever the thread is by then. */
const facts: ReadonlySet<ThreadEvent['type']> = new Set([
  'call-ended',
  'call-deferred',
  'answer-delivered',
  'request-closed',
  'late-result',
]);

/** What decides something in a thread comes from the agent that it belongs to; and what begins it, from the one whose name it bears. */
function ownerFaults({ events, authors }: Evidence): string[] {
  if (authors === undefined) return [];
  let owner: string | undefined;
  return events.flatMap((event, index) => {
    if (event.type === 'thread-created' || event.type === 'agent-changed') owner = event.agent;
    const isTaking = event.type === 'run-ended' || event.type === 'call-lost';
    /* Who adopts a thread first records that its last run is gone. */
    const next = events
      .slice(index)
      .find(({ type }) => type !== 'run-ended' && type !== 'call-lost');
    const taker = isTaking && next?.type === 'agent-changed' ? next.agent : owner;
    if (isFact(event) || authors[index] === owner || authors[index] === taker) return [];
    return [`Agent ${authors[index]} appended ${event.type} to a thread of agent ${owner}.`];
  });
}

function isFact(event: ThreadEvent): boolean {
  return facts.has(event.type) && !('source' in event && event.source !== undefined);
}
