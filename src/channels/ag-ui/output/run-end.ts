import type { AgentResponse } from '../../../agent/agent-response.ts';
import type { InputSchemas } from '../../../agent/input-schemas.ts';
import type { AgentThread } from '../../../thread/agent-thread.ts';
import type { AgUiEvent, RunFinished } from './ag-ui-event.ts';
import { makeInteractionRequested } from './interaction-events.ts';
import { toInterrupt } from './interrupts.ts';
import type { RunAgentInput } from '../input/run-agent-input.ts';

interface End {
  status: AgentResponse['status'] | undefined;
  /** The conversation, for a client that sends the answer in a later run. */
  snapshot: () => AgUiEvent;
  schemas: InputSchemas;
}

/** The last events of a run that did not fail. It ends as an error if the thread can't continue. */
export function runEnd(
  { threadId, runId, state, protocolVersion }: RunAgentInput,
  thread: AgentThread,
  { status, snapshot, schemas }: End,
): AgUiEvent[] {
  const requests = thread.activeRequests;
  if (requests.length > 0) {
    const interrupts = requests.map((request) => toInterrupt(request, schemas));
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
  const success = { ...finished, ...successOf(pendingToolCallIds, isOlder) };
  switch (status) {
    case 'indeterminate': {
      const message =
        'A call was started and its outcome is unknown. It must be settled before the thread can continue.';
      return [{ type: 'RUN_ERROR', message, code: 'thread-indeterminate' }];
    }
    case 'waiting':
    case 'stuck': {
      if (pending.length > 0) return [success];
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

/* A client before 1.0 rejects the run if it does not know the outcome, and treats a run without one as ended. */
function successOf(
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
