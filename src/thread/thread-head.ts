import type { ModelMessage } from 'ai';
import type { Grant } from '../content/grant.ts';
import { awaitedBy, type CallPlace, type ToolCallRecord } from '../content/tool-call.ts';
import type {
  UserInputRequest,
  UserInputResponseContent,
  RequestDecision,
} from '../content/user-input.ts';
import type { ParentCall } from './events/fields.ts';

/** Why the latest runs failed. */
export interface RunFailure {
  /** How many runs in a row have failed. */
  failures: number;
  /** The message of the latest failure. */
  error: string;
  /** When the run is retried, in milliseconds since 1970. Absent: only when the app runs it. */
  retryAt?: number | undefined;
}

/** A request without an answer. */
export interface OpenRequest {
  request: UserInputRequest;
  /** The call that it is about. */
  place?: CallPlace | undefined;
  /** The call during which its tool or sub-agent asks. */
  beside?: CallPlace | undefined;
  /** The step of a custom agent that asks. */
  step?: number | undefined;
  /** The address at which the tool or sub-agent receives the answer. */
  replyTo?: unknown;
  /** Whether its reminder is recorded. */
  isReminded?: true;
}

/** A standing approval of the thread that has not ended. */
interface ThreadGrant {
  grant: Grant;
  /** How many more calls it decides. Absent: any number, as a snapshot can't express `Infinity`. */
  usesLeft?: number | undefined;
}

/** A request that was answered or closed. */
export interface EndedRequest extends OpenRequest, Omit<RequestDecision, 'status' | 'request'> {
  response?: UserInputResponseContent;
  cause?: 'expired' | 'cancelled' | 'invalidated';
}

/** An answer that the tool or sub-agent of a call may not have received yet. */
export interface UnsentAnswer {
  request: UserInputRequest;
  response: UserInputResponseContent;
  beside: CallPlace;
  replyTo?: unknown;
  principal?: unknown;
  channel?: string | undefined;
}

/** The fields of a head to restore if a message without a reply is retracted. */
type BeforeMessage = Pick<ThreadHead, 'modelIsNext' | 'isStopped' | WhoAsked>;
type WhoAsked = 'requestedBy' | 'requesters' | 'isAnswered';

/** The messages, calls and requests that one append made past, and that can't change any more. */
interface NewlyPast {
  messages: ModelMessage[];
  /** How many of the thread's earlier messages were retracted. */
  retracted: number;
  calls: ToolCallRecord[];
  requests: EndedRequest[];
  toolCallIds: string[];
}

/** The part of a thread that can change. Its size doesn't grow with the length of the log. */
export interface ThreadHead {
  created: boolean;
  /** The name of the agent that the thread belongs to. */
  agent: string | undefined;
  /** The delegated call, in a child thread. */
  parent: ParentCall | undefined;
  /** The principal of the latest message. */
  requestedBy: unknown;
  /** Who sent the messages that are unanswered, or else were answered last, each once. `null` stands for somebody unknown. */
  requesters: readonly unknown[];
  /** Whether the model has answered the messages of `requesters`: a later message is not theirs. */
  isAnswered: boolean;
  /** How many steps have finished. */
  steps: number;
  /** The progress that a custom agent's latest step returned. */
  progress: unknown;
  /** The requests of a custom agent's latest step that are no longer open, in the order in which they ended. */
  decided: readonly EndedRequest[];
  /** The run that holds the thread. With `isStopping`, somebody asked it to stop. */
  run: { runId: string; leaseUntil: number; isStopping?: true } | undefined;
  /** Set if the latest run failed, until an input arrives or a run succeeds. */
  failure: RunFailure | undefined;
  /** All calls of the latest step, in the model's order, while one of them is open; otherwise none. */
  calls: ToolCallRecord[];
  openRequests: OpenRequest[];
  /** The standing approvals of this thread, oldest first: neither revoked nor used up. They may have expired. */
  grants: readonly ThreadGrant[];
  /** Answers that tools have not received, oldest first. */
  unsentAnswers: UnsentAnswer[];
  /** Messages that arrived while calls were open. */
  queuedMessages: ModelMessage[];
  /** What to restore if messages are retracted: one for each message from the app that has no reply. */
  unanswered: readonly BeforeMessage[];
  /** Whether the model is called next. */
  modelIsNext: boolean;
  /** Whether a person stopped the turn: later results don't make the model next. */
  isStopped: boolean;
  /** Whether the latest run reached its step limit; the app decides whether the turn resumes. */
  isOutOfSteps: boolean;
  /** The requests and calls that ended in events which are proposed and not yet appended; empty afterwards. */
  newlyPast: NewlyPast;
}

/** An empty `NewlyPast`. */
export function makeNewlyPast(): NewlyPast {
  return { messages: [], retracted: 0, calls: [], requests: [], toolCallIds: [] };
}

/** Whether a run holds the thread. */
export function isRunning(head: ThreadHead, now: number): boolean {
  return head.run !== undefined && now < head.run.leaseUntil;
}

/** Whether a call was started and its outcome is unknown. */
export function isUnfinished({ status }: Pick<ToolCallRecord, 'status'>): boolean {
  return awaitedBy[status] === 'attempt';
}

/** Whether a run has not ended but its lease has expired: its process has died or stalled. */
export function isAbandoned({ run }: ThreadHead, now: number): boolean {
  return run !== undefined && now >= run.leaseUntil;
}

/** Whether two places are the same call. */
export function isSamePlace(one: CallPlace | undefined, { step, index }: CallPlace): boolean {
  return one?.step === step && one.index === index;
}

/** The call of the open step at a place. */
export function callAt(
  { calls }: Pick<ThreadHead, 'calls'>,
  place: CallPlace | undefined,
): ToolCallRecord | undefined {
  return place && calls.find((call) => isSamePlace(call, place));
}

/** The call of an attempt, while the result of that attempt is still awaited. */
export function findAwaitedCall(
  head: ThreadHead,
  attempted: CallPlace & { attempt: number },
): ToolCallRecord | undefined {
  const call = callAt(head, attempted);
  const isAwaited = call !== undefined && (isUnfinished(call) || call.status === 'deferred');
  return isAwaited && call.attempts === attempted.attempt ? call : undefined;
}

/** Whether a request or a deferred call has expired; without `expiresAt` it never does. */
export function isExpired(
  { expiresAt = Infinity }: { expiresAt?: number | undefined },
  now: number,
): boolean {
  return expiresAt <= now;
}

/** Whether a request, or the call during which it is asked, has expired. */
export function isOverdue(
  { calls }: Pick<ThreadHead, 'calls'>,
  { request, beside }: OpenRequest,
  now: number,
): boolean {
  const call = beside && calls.find((each) => isSamePlace(beside, each));
  return isExpired(request, now) || (call !== undefined && isExpired(call, now));
}

/** When a reminder of an open request is due; `undefined` for never. A sub-agent reminds of its own requests. */
export function computeRemindAt({ request, isReminded, beside }: OpenRequest): number | undefined {
  const isDue = request.type === 'approval-request' && isReminded !== true && beside === undefined;
  return isDue ? request.remindAt : undefined;
}

/** Whether the outcome of a call ends the turn: the model is not called before the next message. */
export function endsTurn({ outcome }: Pick<ToolCallRecord, 'outcome'>): boolean {
  return outcome?.status === 'failed' && outcome.endsTurn === true;
}
