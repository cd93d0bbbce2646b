import { readPages } from '../content/read-pages.ts';
import { HoldpointError } from '../errors.ts';
import { AgentThread } from '../thread/agent-thread.ts';
import { makePlaceKey } from '../thread/calls-by-place.ts';
import type { EntryContent } from '../thread/log-entry.ts';
import { parseThreadJson, type ThreadJson, verifyEntries } from '../thread/thread-json.ts';
import type { JsonTypes } from '../json/json-form.ts';
import { listProposedCalls } from '../thread/proposed-calls.ts';
import { isQuiet, type LoudEventType } from '../thread/quiet-events.ts';
import {
  type ThreadEvent,
  type ThreadEventOf,
  callPerEvent,
  type PerEvent,
} from '../thread/thread-event.ts';
import type { CallPlace } from '../content/tool-call.ts';
import type { ThreadStore, ThreadSummary } from '../thread/thread-store.ts';

/** The verified log of a thread. */
export interface RecordedThread {
  threadId: string;
  entries: readonly EntryContent[];
}

/** A thread that has not been read yet. */
export interface ThreadToRead {
  /** Its id, or if that is unknown, its position among the given threads. */
  name: string;
  /** Resolves with `undefined` if the thread was deleted meanwhile. Rejects if it can't be read. */
  read: () => Promise<RecordedThread | undefined>;
}

/** Handles of threads, or their JSON forms, as text or parsed. */
export type GivenThreads =
  | Iterable<AgentThread | ThreadJson | string>
  | AsyncIterable<AgentThread | ThreadJson | string>;

/** Threads that the caller has. */
export async function* readGivenThreads(threads: GivenThreads): AsyncGenerator<ThreadToRead> {
  let position = 0;
  for await (const given of threads) {
    position += 1;
    const name = given instanceof AgentThread ? given.id : `thread ${position} of the given ones`;
    yield {
      name,
      read: async () => {
        const json = given instanceof AgentThread ? given.toJSON() : given;
        const { threadId, entries } = parseThreadJson(json);
        return { threadId, entries: await verifyEntries(entries) };
      },
    };
  }
}

const pageSize = 100;

/** The threads of an agent in a store, page by page; `null`: of agents without a name. */
export async function* readStoredThreads(
  store: ThreadStore,
  agent: string | null,
): AsyncGenerator<ThreadToRead> {
  const readPage = async (after?: ThreadSummary) => store.list({ agent, limit: pageSize, after });
  for await (const page of readPages(readPage, pageSize)) {
    for (const summary of page) {
      yield { name: summary.threadId, read: async () => readStored(store, summary) };
    }
  }
}

async function readStored(
  store: ThreadStore,
  { threadId, revision, hash }: ThreadSummary,
): Promise<RecordedThread | undefined> {
  const stored = await store.read(threadId);
  const entries = await verifyEntries(stored);
  const last = stored.findIndex((entry) => entry.revision === revision);
  if (entries[last]?.hash === hash) return { threadId, entries };
  /* It was deleted after it was listed, and its id may be in use again. */
  if ((await store.head(threadId))?.hash !== hash) return undefined;
  throw new HoldpointError(
    'log-tampered',
    `The log of thread ${threadId} has no revision ${revision}, at which the store's summary says it ends. Restore the thread from a backup.`,
  );
}

/** The log's decision on a call; for the three answers, also the person, the time and the reason. */
export interface LoggedDecision {
  /**
   * `approved`, `edited`, `rejected`: a person was asked and answered so; `edited`: approved it with another input than the model's.
   * `granted`: a standing approval let it run. A standing rejection counts as `rejected`. `unanswered`: a person was asked, and nobody
   * answered. `unasked`: no person was asked. `denied`: a rule denied it. `refused`: no rule
   * was applied, because the input was invalid, the step was cut off, or there was no such tool. `question`: the call asked a question.
   */
  type:
    | 'approved'
    | 'edited'
    | 'rejected'
    | 'granted'
    | 'unanswered'
    | 'unasked'
    | 'denied'
    | 'refused'
    | 'question';
  /** The moment when the call was proposed: in milliseconds since 1970, and as the number of the event. */
  proposed: Moment;
  answered?: Moment;
  /** The person who answered, as authenticated by the app. */
  principal?: unknown;
  channel?: string | undefined;
  reason?: string | undefined;
  /** The input that its schema made before it was decided on, if that differs from the proposed one. */
  remade?: { input: unknown; inputTypes?: JsonTypes | undefined };
  /** The input that ran instead, if a person edited it. */
  editedInput?: unknown;
}

/** The time of an event, in milliseconds since 1970, and its number in the thread. */
interface Moment {
  at: number;
  revision: number;
}

/** A call while its events are read. */
interface CallInLog {
  decision: LoggedDecision;
  /** True if it was started, or an attempt was given up: later requests are about another attempt. */
  isStarted: boolean;
}

/** Reads a log's decision on each of its calls, by the key of their place. */
export function readLoggedDecisions(
  events: readonly ThreadEvent[],
): ReadonlyMap<string, LoggedDecision> {
  const calls = new Map<string, CallInLog>();
  const asked = new Map<string, CallInLog>();
  for (const [index, event] of events.entries()) {
    const moment = { at: event.at, revision: index + 1 };
    if (!isQuiet(event)) callPerEvent(effects, event.type, event, { calls, asked, moment });
  }
  return new Map([...calls].map(([key, { decision }]) => [key, decision]));
}

/** The calls of a log: by the key of their place, and by the request that asks about them. */
interface CallsInLog {
  calls: Map<string, CallInLog>;
  asked: Map<string, CallInLog>;
  /** The moment of the event that is read. */
  moment: Moment;
}

const ignore = (): void => {};

/** The effect of each event on the calls. */
const effects: PerEvent<CallsInLog, void, LoudEventType> = {
  'step-finished': (event, { calls, moment }) => {
    for (const [key, call] of callsOfStep(event, moment)) calls.set(key, call);
  },
  'request-opened': ({ place, request: { type, requestId } }, { calls, asked }) => {
    const call = place && calls.get(makePlaceKey(place));
    if (call === undefined || call.isStarted) return;
    const { proposed, remade, type: before, editedInput } = call.decision;
    call.decision = {
      type: type === 'question-request' ? 'question' : 'unanswered',
      proposed,
      remade,
      /* An edit that was approved stays with its call. */
      ...(before === 'edited' ? { editedInput } : {}),
    };
    asked.set(requestId, call);
  },
  'request-voted': (event, { asked }) => recordEdit(asked.get(event.response.requestId), event),
  'request-answered': (event, { asked, moment }) =>
    recordAnswer(asked.get(event.response.requestId), event, moment),
  'grant-used': (event, { calls }) => {
    const call = calls.get(makePlaceKey(event));
    if (call === undefined) return;
    call.decision.type = event.decision === 'approved' ? 'granted' : 'rejected';
  },
  'call-started': recordStart,
  'call-deferred': recordStart,
  'call-ended': (event, { calls }) => recordEnd(calls.get(makePlaceKey(event)), event),
  'message-added': ignore,
  'message-retracted': ignore,
  'request-closed': ignore,
  'vote-withdrawn': ignore,
  'request-reassigned': ignore,
  'call-lost': ignore,
  'input-remade': ({ input, types, ...place }, { calls }) => {
    const call = calls.get(makePlaceKey(place));
    if (call === undefined) return;
    /* Made of what a person wrote, not of the model's. */
    if (call.decision.type === 'edited') call.decision.editedInput = input;
    else call.decision.remade = { input, inputTypes: types };
  },
};

function callsOfStep(
  event: ThreadEventOf<'step-finished'>,
  proposed: Moment,
): [string, CallInLog][] {
  return listProposedCalls(event).map((call) => [
    makePlaceKey(call),
    { decision: { type: 'unasked', proposed }, isStarted: false },
  ]);
}

function recordStart(place: CallPlace, { calls }: CallsInLog): void {
  const call = calls.get(makePlaceKey(place));
  if (call !== undefined) call.isStarted = true;
}

function recordAnswer(
  call: CallInLog | undefined,
  event: ThreadEventOf<'request-answered'>,
  answered: Moment,
): void {
  const { response, principal, channel } = event;
  if (call === undefined || response.type !== 'approval-response') return;
  recordEdit(call, event);
  const { decision } = call;
  const isEdited = response.approved && decision.editedInput !== undefined;
  const { approved, reason } = response;
  decision.answered = answered;
  decision.type = isEdited ? 'edited' : approved ? 'approved' : 'rejected';
  /* Of several people who approved an edited input, the one who edited it; if a schema has changed the edit since, who approved that. */
  if (isEdited && Object.hasOwn(decision, 'principal')) return;
  Object.assign(decision, { principal, channel, reason });
  if (!isEdited) decision.editedInput = undefined;
}

function recordEdit(
  call: CallInLog | undefined,
  { edit, principal, channel, response }: ThreadEventOf<'request-answered' | 'request-voted'>,
): void {
  if (call === undefined || edit === undefined) return;
  const editedInput = edit.patches.length === 0 ? undefined : edit.input;
  const { reason } = response.type === 'approval-response' ? response : {};
  Object.assign(call.decision, { editedInput, principal, channel, reason });
}

/* A call that ends before it was started or asked about was decided by a rule, or never got to one. */
function recordEnd(call: CallInLog | undefined, { outcome }: ThreadEventOf<'call-ended'>): void {
  if (call === undefined || call.isStarted) return;
  const { decision } = call;
  /* Ended by a standing rejection. */
  if (decision.type === 'rejected' && decision.answered === undefined) {
    decision.reason = outcome.status === 'denied' ? outcome.reason : undefined;
  }
  if (decision.type === 'unasked') Object.assign(decision, describeUnasked(outcome));
}

/** Describes the decision on a call that needed no answer and has not started. */
function describeUnasked(
  outcome: ThreadEventOf<'call-ended'>['outcome'],
): Pick<LoggedDecision, 'type' | 'reason'> {
  switch (outcome.status) {
    case 'failed':
      return { type: 'refused' };
    case 'denied':
      return { type: 'denied', reason: outcome.reason };
    case 'succeeded':
    case 'forwarded':
      return { type: 'unasked' };
  }
}
