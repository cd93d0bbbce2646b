import type { AgentResponse } from '../../agent/agent-response.ts';
import type { AgentThread } from '../../thread/agent-thread.ts';
import type { AgUiEvent, RunOutcome } from './ag-ui-event.ts';
import { interactionRequested } from './interactions.ts';
import { toInterrupt } from './interrupt.ts';
import type { RunAgentInput } from './run-agent-input.ts';

interface End {
  status: AgentResponse['status'] | undefined;
  /** The conversation, for the client that comes back with an answer. */
  snapshot: () => AgUiEvent;
}

/** The last events of a run that did not fail; one whose thread nobody can go on with ends as an error. */
export function runEnd(
  { threadId, runId, state }: RunAgentInput,
  thread: AgentThread,
  { status, snapshot }: End,
): AgUiEvent[] {
  const requests = thread.activeRequests;
  if (requests.length > 0) {
    const interrupts = requests.map(toInterrupt);
    return [
      stateSnapshot(state, thread),
      snapshot(),
      ...requests.flatMap(interactionRequested),
      { type: 'CUSTOM', name: 'run_input_required', value: { runId, threadId } },
      { type: 'RUN_FINISHED', threadId, runId, outcome: { type: 'interrupt', interrupts } },
    ];
  }
  if (status === 'indeterminate') {
    const message = 'A call was started, and its outcome is unknown. It must be settled first.';
    return [{ type: 'RUN_ERROR', message, code: 'thread-indeterminate' }];
  }
  const outcome = outcomeOf(thread, status);
  const isWaiting = outcome.type === 'success' && outcome.pendingToolCallIds !== undefined;
  if ((status === 'failing' || status === 'stuck') && !isWaiting) {
    return [
      {
        type: 'RUN_ERROR',
        message: 'Earlier runs of the thread failed.',
        code: `thread-${status}`,
      },
    ];
  }
  return [{ type: 'RUN_FINISHED', threadId, runId, outcome }];
}

function outcomeOf({ calls }: AgentThread, status: End['status']): RunOutcome {
  if (status === 'cancelled' || status === 'max-steps') return { type: 'cancelled' };
  const pending = calls.filter((call) => call.status === 'deferred').map((call) => call.toolCallId);
  return { type: 'success', ...(pending.length === 0 ? {} : { pendingToolCallIds: pending }) };
}

/* The client's own state stays as it is, with ours beside it. */
function stateSnapshot(state: unknown, { revision, status }: AgentThread): AgUiEvent {
  const isObject = typeof state === 'object' && state !== null && !Array.isArray(state);
  const own = { holdpoint: { revision, status } };
  const snapshot = isObject || state === undefined || state === null ? { ...state, ...own } : state;
  return { type: 'STATE_SNAPSHOT', snapshot };
}
