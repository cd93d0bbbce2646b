import type { ModelMessage } from 'ai';
import type { CallPlace, ToolCallRecord } from '../content/tool-call.ts';
import type { QuestionRequestContent, QuestionResponseContent } from '../content/question.ts';
import type { UserInputRequest, UserInputResponseContent } from '../content/user-input.ts';
import type { ThreadEvent } from './thread-event.ts';

/** What the last runs failed with. */
export interface RunFailure {
  /** How many runs in a row have failed. */
  failures: number;
  /** Why the last one did. */
  error: string;
  /** When it is tried again, in milliseconds since 1970; absent: not before a person or the app runs it. */
  retryAt?: number | undefined;
}

/** A request that waits for its answer. */
export interface OpenRequest {
  request: UserInputRequest;
  /** The call that it is about. */
  place?: CallPlace | undefined;
  /** The call that goes on meanwhile, and whose tool asks. */
  beside?: CallPlace | undefined;
  /** What that tool is reached by with the answer. */
  replyTo?: unknown;
}

/** A request that has ended: answered, or closed without an answer. */
export interface EndedRequest extends OpenRequest {
  response?: UserInputResponseContent;
  cause?: 'expired' | 'cancelled' | 'invalidated';
}

/** An answer that the tool of a call that goes on has asked for, and is not known to have. */
export interface UnsentAnswer {
  request: QuestionRequestContent;
  response: QuestionResponseContent;
  beside: CallPlace;
  replyTo?: unknown;
}

/** Where a thread stood before a message that has no reply, and stands again when it is withdrawn. */
type BeforeMessage = Pick<ThreadHead, 'modelIsNext' | 'isStopped' | 'requestedBy'>;

/** What has become past and can't change any more. */
export interface NewlyPast {
  messages: ModelMessage[];
  /** How many of the thread's messages were withdrawn before these came. */
  retracted: number;
  calls: ToolCallRecord[];
  requests: EndedRequest[];
  toolCallIds: string[];
}

/** The part of a thread that changes; small, whatever the length of the past. */
export interface ThreadHead {
  created: boolean;
  /** The name of the agent that the thread belongs to. */
  agent: string | undefined;
  /** Who sent the message that the model is at work on, as the app says. */
  requestedBy: unknown;
  /** How many model steps there were. */
  steps: number;
  /** With `isStopping`, somebody wants it to end. */
  run: { runId: string; leaseUntil: number; isStopping?: true } | undefined;
  /** Set while the latest run has failed and nothing has come in since. */
  failure: RunFailure | undefined;
  /** The calls of the latest step while one of them is open, in the model's order; else none. */
  calls: ToolCallRecord[];
  openRequests: OpenRequest[];
  /** Answers that tools are still to get, oldest first. */
  unsentAnswers: UnsentAnswer[];
  /** Messages that came while calls were open. */
  queuedMessages: ModelMessage[];
  /** For each message from the app that ends the history, where the thread stood before it. */
  unanswered: readonly BeforeMessage[];
  /** Whether the model is to speak next. */
  modelIsNext: boolean;
  /** Whether a person has ended the turn: results that come in later don't make the model next. */
  isStopped: boolean;
  /** Whether the last run took all the steps that it may, and left the model's turn to whoever says so. */
  isOutOfSteps: boolean;
  /** What the events being applied have settled, on its way to the thread's arrays. */
  newlyPast: NewlyPast;
}

/** The end of an append: how many events there were then, and what ties them together. */
interface EntryMark {
  revision: number;
  hash: string;
  snapshot?: string | undefined;
}

/** All that is read off the events of a thread. Only `applyEvent` writes it. */
export interface ThreadState {
  readonly threadId: string;
  head: ThreadHead;
  /** These only grow; a message that is withdrawn leaves `messages`. */
  readonly events: ThreadEvent[];
  /** Where each append of the log ends. */
  readonly entries: EntryMark[];
  readonly messages: ModelMessage[];
  readonly pastCalls: ToolCallRecord[];
  readonly endedRequests: Map<string, EndedRequest>;
  readonly toolCallIds: Set<string>;
}

/** A thread that was never written. */
export function emptyThread(threadId: string): ThreadState {
  return {
    threadId,
    head: {
      created: false,
      agent: undefined,
      requestedBy: undefined,
      steps: 0,
      run: undefined,
      failure: undefined,
      calls: [],
      openRequests: [],
      unsentAnswers: [],
      queuedMessages: [],
      unanswered: [],
      modelIsNext: false,
      isStopped: false,
      isOutOfSteps: false,
      newlyPast: nothingPast(),
    },
    events: [],
    entries: [],
    messages: [],
    pastCalls: [],
    endedRequests: new Map(),
    toolCallIds: new Set(),
  };
}

/** The hash at which the log ends; `''` for a thread that was never written. */
export function lastHash({ entries }: Readonly<ThreadState>): string {
  return entries.at(-1)?.hash ?? '';
}

/** An empty `NewlyPast`. */
export function nothingPast(): NewlyPast {
  return { messages: [], retracted: 0, calls: [], requests: [], toolCallIds: [] };
}

/** Whether a runner holds the thread. */
export function isRunning(head: ThreadHead, now: number): boolean {
  return head.run !== undefined && now < head.run.leaseUntil;
}

/** Whether a call was started and nobody has said what it came to. */
export function isUnfinished({ status }: Pick<ToolCallRecord, 'status'>): boolean {
  return status === 'started' || status === 'indeterminate';
}

/** Whether the run that held the thread has not ended and its lease is over: its process is gone, or has stalled. */
export function isAbandoned({ run }: ThreadHead, now: number): boolean {
  return run !== undefined && now >= run.leaseUntil;
}

/** Whether the model is to be asked now: it is next, and no call is open. */
export function isModelDue(head: ThreadHead): boolean {
  return head.modelIsNext && head.calls.length === 0;
}

/**
 * The approved calls that can go on now: ours at once, and the provider's when nothing else of the step is open, as they go
 * with the next request; until then they can expire and be cancelled.
 */
export function dueCalls({ calls }: ThreadHead): ToolCallRecord[] {
  const approved = calls.filter(({ status }) => status === 'approved');
  const own = approved.filter(({ providerApprovalId }) => providerApprovalId === undefined);
  const open = calls.filter(({ outcome }) => outcome === undefined);
  return own.length === 0 && open.length === approved.length ? approved : own;
}

/** Whether a run would find something to do at once: an approved call that can go on, an answer to bring, or the model to ask. */
export function needsRun(head: ThreadHead): boolean {
  return isModelDue(head) || dueCalls(head).length > 0 || head.unsentAnswers.length > 0;
}

/** Whether two places are one. */
export function isSamePlace(one: CallPlace | undefined, { step, index }: CallPlace): boolean {
  return one?.step === step && one.index === index;
}

/** Whether a request or a deferred call has expired; without `expiresAt` it never does. */
export function isExpired(
  { expiresAt = Infinity }: { expiresAt?: number | undefined },
  now: number,
): boolean {
  return expiresAt <= now;
}

/** Every call of the thread, oldest first; a started call that nobody runs is indeterminate. */
export function callsOf(state: ThreadState, now: number): ToolCallRecord[] {
  const running = isRunning(state.head, now);
  return [
    ...state.pastCalls,
    ...state.head.calls.map((call): ToolCallRecord =>
      call.status === 'started' && !running ? { ...call, status: 'indeterminate' } : call,
    ),
  ];
}

/** Whether a call ended so that the model is not asked again before a new message. */
export function endsTurn({ outcome }: Pick<ToolCallRecord, 'outcome'>): boolean {
  return outcome?.status === 'failed' && outcome.endsTurn === true;
}
