import type { ToolCallRecord } from '../../content/tool-call.ts';
import { type CausedRun, chooseRunContext } from '../../policy/run-context.ts';
import type { ThreadLog } from '../../thread/thread-log.ts';
import { type DelegatedWork, readShownRequests } from '../calls/delegation.ts';
import { pickSender } from '../calls/close-requests.ts';
import type { AgentContext } from './agent-context.ts';
import { findStopper } from './run-end.ts';

/** The parts of a run that a delegated call needs. */
interface DelegatingRun {
  log: ThreadLog;
  /** Aborts when the run ends early. */
  signal: AbortSignal;
  /** Checks whether a person stopped the run, and not the app or a time limit. */
  isStopped: () => boolean;
  run: CausedRun;
}

/** The circumstances in which a sub-agent works on a call. */
export function makeDelegatedWork(
  context: Pick<AgentContext, 'name' | 'now' | 'principalId' | 'mayStand'>,
  { log, run, isStopped, signal: ofRun }: DelegatingRun,
  { call, signal, report }: { call: ToolCallRecord } & Pick<DelegatedWork, 'signal' | 'report'>,
): Omit<DelegatedWork, 'input'> {
  const { name, now, principalId, mayStand } = context;
  const { threadId, endedRequests, head } = log.state;
  const { parent, requestedBy: principal, requesters } = head;
  const { given, isWhole } = chooseRunContext(run, head, principalId);
  return {
    threadId,
    agents: [...(parent?.agents ?? []), name ?? null],
    principal,
    requesters,
    runtimeContext: given,
    cause: { by: run.cause.by, parentHasContext: isWhole },
    report,
    mayStand,
    approval: endedRequests.get(call.requestId ?? ''),
    shown: () => readShownRequests(log.state.head, call),
    cancelledBy: (id) => {
      const { cause, closedBy } = endedRequests.get(id) ?? {};
      return cause === 'cancelled' ? pickSender(closedBy) : undefined;
    },
    stoppedBy: () =>
      head.isStopped || (ofRun.aborted && isStopped())
        ? pickSender(findStopper({ principalId }, log.state))
        : undefined,
    isAnswered: (id) => {
      const { response, cause } = endedRequests.get(id) ?? {};
      return response !== undefined && cause === undefined;
    },
    now,
    isStopped: head.isStopped,
    signal,
    /* A call over its own time limit fails, and so does one that a person stopped. */
    isResumedLater: () => ofRun.aborted && !isStopped(),
  };
}
