import type { AgentResponse } from '../../agent.ts';
import { inertText } from '../../content/inert-text.ts';
import { HoldpointError, type HoldpointErrorCode } from '../../errors.ts';
import { renderPublicError } from '../../http/error-response.ts';
import type { AgentThread } from '../../thread/agent-thread.ts';
import { isHeld } from '../../thread/thread-head.ts';
import { heldWords } from '../../view/state-words.ts';
import type { RunAgentInput } from './run-agent-input.ts';
import type { AgUiEvent, RunFinished } from './ag-ui-event.ts';
import { makeInteractionRequested, type InterruptFacts, toInterrupt } from './interrupts.ts';

interface End extends InterruptFacts {
  status: AgentResponse['status'] | undefined;
  /** The conversation, for a client that sends the answer in a later run. */
  snapshot: () => AgUiEvent;
}

/** The last events of a run that did not fail. It ends as an error if the thread can't continue. */
export function makeRunEnd(
  { threadId, runId, state, protocolVersion }: RunAgentInput,
  thread: AgentThread,
  { status, snapshot, ...facts }: End,
): AgUiEvent[] {
  const requests = thread.activeRequests;
  if (requests.length > 0) {
    const interrupts = requests.map((request) => toInterrupt(request, facts));
    return [
      makeStateSnapshot(state, thread),
      snapshot(),
      ...requests.flatMap(makeInteractionRequested),
      { type: 'CUSTOM', name: 'run_input_required', value: { runId, threadId } },
      { type: 'RUN_FINISHED', threadId, runId, outcome: { type: 'interrupt', interrupts } },
    ];
  }
  const pending = thread.calls.filter((call) => call.status === 'deferred');
  const pendingToolCallIds = pending.map(({ toolCallId }) => toolCallId);
  const isOlder = protocolVersion === undefined;
  const finished = { type: 'RUN_FINISHED', threadId, runId } as const;
  const success = { ...finished, ...makeSuccess(pendingToolCallIds, isOlder) };
  switch (status) {
    case 'indeterminate': {
      const message =
        'A call was started and its outcome is unknown. It must be settled before the thread can continue.';
      return [{ type: 'RUN_ERROR', message, code: 'thread-indeterminate' }];
    }
    case 'waiting':
    case 'stuck': {
      if (pending.length > 0) return [success];
      if (thread.calls.some(isHeld)) {
        return [{ type: 'RUN_ERROR', message: `A call is ${heldWords}.`, code: 'thread-held' }];
      }
      const message = 'Earlier runs of the thread failed.';
      return [{ type: 'RUN_ERROR', message, code: 'thread-stuck' }];
    }
    case 'cancelled':
    case 'max-steps':
      return [
        { ...finished, ...(isOlder ? { result: { status } } : { outcome: { type: 'cancelled' } }) },
      ];
    case 'completed':
    case 'running':
    case undefined:
      return [success];
  }
}

/* A client before 1.0 rejects a run with an unknown outcome, and treats a run without one as ended. */
function makeSuccess(
  pendingToolCallIds: string[],
  isOlder: boolean,
): Pick<RunFinished, 'outcome' | 'result'> {
  const outcome = { type: 'success' } as const;
  if (pendingToolCallIds.length === 0) return { outcome };
  return isOlder
    ? { outcome, result: { status: 'waiting', pendingToolCallIds } }
    : { outcome: { ...outcome, pendingToolCallIds } };
}

/* The client's own state stays as it is; ours is added to it. */
function makeStateSnapshot(state: unknown, { revision, status }: AgentThread): AgUiEvent {
  const isObject = typeof state === 'object' && state !== null && !Array.isArray(state);
  const own = { holdpoint: { revision, status } };
  const snapshot = isObject || state === undefined || state === null ? { ...state, ...own } : state;
  return { type: 'STATE_SNAPSHOT', snapshot };
}

/* The errors that a client can act on. Any other has the text of `onError`. */
const disclosed: ReadonlySet<HoldpointErrorCode> = new Set<HoldpointErrorCode>([
  'invalid-input',
  'invalid-answer',
  'not-allowed',
  'not-found',
  'already-answered',
  'request-closed',
  'answer-mismatch',
  'thread-busy',
  'requests-open',
  'thread-indeterminate',
  'revision-conflict',
]);

/** The end of a run that failed, or was refused. Front ends of interactions have their own code for `requests-open`. */
export function makeRunError(error: unknown, onError?: (error: unknown) => string): AgUiEvent {
  const known = HoldpointError.isInstance(error) && disclosed.has(error.code) ? error : undefined;
  if (known === undefined) {
    return {
      type: 'RUN_ERROR',
      message: renderPublicError(error, onError),
      code: 'internal-error',
    };
  }
  const { code, message } = known;
  const refusedAnswers = known.refusedAnswers.filter((refused) => disclosed.has(refused.code));
  const name = code === 'requests-open' ? 'NO_RESPONSE_FOR_PENDING' : code;
  const ended = { type: 'RUN_ERROR', message, code: name } as const;
  return refusedAnswers.length === 0 ? ended : { ...ended, metadata: { refusedAnswers } };
}

const maximumLength = 120;
const maximumNamed = 3;

/** The refusal of a message while the thread waits or runs, with a text for the person who typed it; any other error unchanged. */
export function toReadableRefusal(error: unknown, thread: AgentThread): unknown {
  if (!HoldpointError.isInstance(error)) return error;
  switch (error.code) {
    case 'requests-open':
      return new HoldpointError(error.code, renderWaiting(thread), { cause: error });
    case 'thread-busy':
      return new HoldpointError(
        error.code,
        'Your message was not sent: the agent is still working. Send it again when it is done.',
        { cause: error },
      );
    case 'already-answered':
    case 'answer-mismatch':
    case 'grant-ended':
    case 'invalid-answer':
    case 'invalid-input':
    case 'log-tampered':
    case 'missing-tool':
    case 'not-allowed':
    case 'not-found':
    case 'request-closed':
    case 'revision-conflict':
    case 'thread-deleted':
    case 'thread-diverged':
    case 'thread-indeterminate':
    case 'unsupported-version':
    case 'wrong-agent':
      return error;
  }
}

function renderWaiting({ activeRequests, calls }: AgentThread): string {
  const asked = activeRequests.map(({ text }) => text);
  const working = calls
    .filter(({ status }) => status === 'deferred')
    .map(({ toolName }) => toolName);
  if (asked.length === 0) {
    return `Your message was not sent: ${quoteTexts(working)} is still at work. Wait for the result or cancel it, then send your message again.`;
  }
  return `Your message was not sent: the agent is waiting for an answer to ${quoteTexts(asked)}. Answer or cancel, then send your message again.`;
}

function quoteTexts(texts: readonly string[]): string {
  const shown = texts.slice(0, maximumNamed).map((text) => `“${shortenLine(text)}”`);
  const more = texts.length - shown.length;
  return [...shown, ...(more === 0 ? [] : [`${more} more`])].join(' and ');
}

function shortenLine(text: string): string {
  const [line = ''] = inertText(text.trim()).split('\n');
  return line.length > maximumLength ? `${line.slice(0, maximumLength)}…` : line;
}
