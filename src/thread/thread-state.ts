import type { ModelMessage } from 'ai';
import type { CallPlace, ToolCallRecord } from '../content/tool-call.ts';
import type { QuestionRequestContent, QuestionResponseContent } from '../content/question.ts';
import type { UserInputRequest, UserInputResponseContent } from '../content/user-input.ts';
import type { ThreadEvent } from './thread-event.ts';

/** Where a thread stands (design, part 4). */
export type ThreadStatus = 'idle' | 'waiting' | 'running' | 'indeterminate';

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
export interface OwedAnswer {
  request: QuestionRequestContent;
  response: QuestionResponseContent;
  beside: CallPlace;
  replyTo?: unknown;
}

/** What has become past and can't change any more. */
export interface Settled {
  messages: ModelMessage[];
  calls: ToolCallRecord[];
  requests: EndedRequest[];
  toolCallIds: string[];
}

/** The part of a thread that changes; small, whatever the length of the past. */
export interface ThreadHead {
  created: boolean;
  /** How many model steps there were. */
  steps: number;
  run: { runId: string; leaseUntil: number } | undefined;
  /** The calls of the latest step while one of them is open, in the model's order; else none. */
  calls: ToolCallRecord[];
  openRequests: OpenRequest[];
  /** Answers that tools are still to get, oldest first. */
  owedAnswers: OwedAnswer[];
  /** Messages that came while calls were open. */
  queuedMessages: ModelMessage[];
  /** Whether the model is to speak next. */
  modelIsNext: boolean;
  /** Whether the last run took all the steps that it may, and left the model's turn to whoever says so. */
  isOutOfSteps: boolean;
  /** What the events being applied have settled, on its way to the thread's arrays. */
  settling: Settled;
}

/** All that is read off the events of a thread. Only `applyEvent` writes it. */
export interface ThreadState {
  readonly threadId: string;
  head: ThreadHead;
  /** These only grow. */
  readonly events: ThreadEvent[];
  readonly messages: ModelMessage[];
  readonly settledCalls: ToolCallRecord[];
  readonly endedRequests: Map<string, EndedRequest>;
  readonly toolCallIds: Set<string>;
}

/** A thread that was never written. */
export function emptyThread(threadId: string): ThreadState {
  return {
    threadId,
    head: {
      created: false,
      steps: 0,
      run: undefined,
      calls: [],
      openRequests: [],
      owedAnswers: [],
      queuedMessages: [],
      modelIsNext: false,
      isOutOfSteps: false,
      settling: nothingSettled(),
    },
    events: [],
    messages: [],
    settledCalls: [],
    endedRequests: new Map(),
    toolCallIds: new Set(),
  };
}

/** An empty `Settled`. */
export function nothingSettled(): Settled {
  return { messages: [], calls: [], requests: [], toolCallIds: [] };
}

/** Whether a runner holds the thread. */
export function isRunning(head: ThreadHead, now: number): boolean {
  return head.run !== undefined && now < head.run.leaseUntil;
}

/** Where a thread stands; leases end without a write, so it takes the time. */
export function statusOf(head: ThreadHead, now: number): ThreadStatus {
  if (isRunning(head, now)) return 'running';
  if (head.calls.some((call) => call.status === 'started')) return 'indeterminate';
  return head.openRequests.length > 0 || head.calls.length > 0 ? 'waiting' : 'idle';
}

/** Whether the model is to be asked now: it is next, and no call is open. */
export function modelSpeaks(head: ThreadHead): boolean {
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
export function owesRun(head: ThreadHead): boolean {
  return modelSpeaks(head) || dueCalls(head).length > 0 || head.owedAnswers.length > 0;
}

/** Whether two places are one. */
export function isSamePlace(one: CallPlace | undefined, { step, index }: CallPlace): boolean {
  return one?.step === step && one.index === index;
}

/** Every call of the thread, oldest first; a started call that nobody runs is indeterminate. */
export function callsOf(state: ThreadState, now: number): ToolCallRecord[] {
  const running = isRunning(state.head, now);
  return [
    ...state.settledCalls,
    ...state.head.calls.map((call): ToolCallRecord =>
      call.status === 'started' && !running ? { ...call, status: 'indeterminate' } : call,
    ),
  ];
}

/** Whether a call ended so that the model is not asked again before a new message. */
export function endsTurn({ outcome }: Pick<ToolCallRecord, 'outcome'>): boolean {
  return outcome?.status === 'failed' && outcome.endsTurn === true;
}
