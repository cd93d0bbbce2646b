import type { ToolCall, ToolCallRecord } from '../../content/tool-call.ts';
import { restoreForm } from '../../json/json-form.ts';
import { listAskedDuring } from '../../thread/open-requests.ts';
import type { ThreadEvent } from '../../thread/thread-event.ts';
import type { ThreadLog } from '../../thread/thread-log.ts';
import { isSamePlace, type ThreadHead } from '../../thread/thread-head.ts';
import type { ThreadState } from '../../thread/thread-state.ts';
import { findAnswerReceiver } from '../calls/answer-receiver.ts';
import { checkApproved, checkRestart, makeStartEvent } from '../calls/start-calls.ts';
import { endEvents, makeCloseDuringEvents } from '../calls/close-requests.ts';
import type { DecisionInput } from '../calls/decide-calls.ts';
import type { ToolDefinitions } from '../calls/tool-definitions.ts';
import {
  type DeliveredOutcome,
  parseDelivered,
  makeRecordedOutcome,
} from '../calls/delivered-outcome.ts';
import type { AgentContext } from './agent-context.ts';
import { retryTime } from './retry-time.ts';
import { mayStartAgain, findRecovery, type ToolRecovery } from './tool-recovery.ts';

/**
 * The events for a call whose outcome is unknown. Recovery starts at `recoverAt`, if its tool can be asked or restarted. Its question is
 * closed if the answer would have gone to the process that lost it. See ADR 20.
 */
export function makeLostEvents(
  context: AgentContext,
  { head, call }: { head: ThreadHead; call: ToolCallRecord },
  { at, recoverAt, error }: { at: number; recoverAt: number; error?: string | undefined },
): ThreadEvent[] {
  const { step, index } = call;
  const isRecoverable =
    findRecovery(context.toolRecovery, call).reconcile !== undefined ||
    mayStartAgain(context, call);
  return [
    {
      type: 'call-lost',
      at,
      step,
      index,
      ...(isRecoverable && { recoverAt }),
      ...(error !== undefined && { error }),
    },
    ...(outlivesProcess(context, call) ? [] : makeCloseDuringEvents(head, call, { reason, at })),
  ];
}

const reason = 'The call that asked was interrupted; it can no longer receive the answer.';

/** Checks whether a call continues without the process that started it, and can be sent answers. */
function outlivesProcess({ tools }: Pick<AgentContext, 'tools'>, { toolName }: ToolCall): boolean {
  const tool = Object.hasOwn(tools, toolName) ? tools[toolName] : undefined;
  return (tool && findAnswerReceiver(tool)?.outlivesProcess) !== false;
}

/**
 * Asks tools for the outcomes of lost calls, and records their answers: an outcome, or that the call continues elsewhere because it has
 * asked a person. These are facts and need no lease.
 */
export async function reconcileCalls(
  context: AgentContext,
  tools: ToolDefinitions,
  log: ThreadLog,
): Promise<readonly ThreadEvent[]> {
  const { state, revision } = log;
  const { head } = state;
  const lost = head.calls.filter(isLost);
  const known = await Promise.all(
    lost.map(async (call) => reconcileCall(context, tools, { call, head })),
  );
  return log.commit((proposal) => {
    /* A new attempt may have started meanwhile, about which the tool was not asked. */
    if (log.revision === revision) proposal.add(...known.flat());
  });
}

function isLost({ status }: ToolCallRecord): boolean {
  return status === 'indeterminate';
}

async function reconcileCall(
  context: AgentContext,
  tools: ToolDefinitions,
  { call, head }: { call: ToolCallRecord; head: ThreadHead },
): Promise<ThreadEvent[]> {
  const { step, index, toolName } = call;
  if (tools.get(toolName)?.delegation !== undefined) return [];
  const outcome = await askTool(findRecovery(context.toolRecovery, call), call);
  const place = { at: context.now(), step, index };
  if (outcome === undefined) {
    if (!isAsking(head, call)) return [];
    if (tools.get(toolName)?.answering?.outlivesProcess !== false)
      return [{ type: 'call-deferred', ...place }];
    return makeCloseDuringEvents(head, call, { reason, at: place.at });
  }
  const recorded = await makeRecordedOutcome(tools.get(toolName), call, outcome);
  const source = 'reconciled';
  return endEvents(head, { type: 'call-ended', ...place, outcome: recorded, source });
}

/** Checks whether a call has an open question, or an answer to be sent to it. */
function isAsking(head: ThreadHead, call: ToolCallRecord): boolean {
  const isUnsent = head.unsentAnswers.some(({ beside }) => isSamePlace(beside, call));
  return isUnsent || listAskedDuring(head, call).length > 0;
}

/* A tool that can't tell, returns something invalid, or throws, leaves the call indeterminate. */
async function askTool(
  { reconcile }: ToolRecovery,
  { toolCallId, input, inputTypes: types, idempotencyKey = toolCallId }: ToolCallRecord,
): Promise<DeliveredOutcome | undefined> {
  try {
    const made = restoreForm({ json: input, types });
    const outcome = await reconcile?.({ input: made, idempotencyKey, toolCallId });
    return outcome === undefined ? undefined : parseDelivered(outcome);
  } catch {
    return undefined;
  }
}

/**
 * Makes the starts of the lost calls that may be restarted: delegated calls, which their sub-agents resume; and calls of idempotent tools
 * with attempts left, if the approved call is still the one that would run, or the rules still let it run without approval.
 */
export async function makeRestartEvents(
  context: AgentContext,
  decisions: DecisionInput,
  { endedRequests }: Readonly<ThreadState>,
  head: ThreadHead,
): Promise<ThreadEvent[]> {
  const calls = head.calls.filter(
    (call) => isLost(call) && decisions.tools.has(call.toolName) && mayStartAgain(context, call),
  );
  const events = await Promise.all(
    calls.map(async (call): Promise<readonly ThreadEvent[]> => {
      const definition = decisions.tools.get(call.toolName);
      if (definition?.delegation !== undefined)
        return [makeStartEvent(definition, call, decisions.now())];
      const { request, startBy } = endedRequests.get(call.requestId ?? '') ?? {};
      return request?.type === 'approval-request'
        ? (await checkApproved(decisions, { call, request, startBy })).events
        : definition === undefined || definition.asking !== undefined
          ? []
          : checkRestart(decisions, definition, call);
    }),
  );
  return events.flat().filter(({ type }) => type === 'call-started');
}

/** The events recording that calls which were due to be recovered are still unknown, and when to retry. */
export function makeFailedRecoveryEvents(
  { retry }: AgentContext,
  { calls }: ThreadHead,
  { at, hash }: { at: number; hash: string },
): ThreadEvent[] {
  return calls
    .filter((call) => isLost(call) && (call.recoverAt ?? Infinity) <= at)
    .map(({ step, index, recoveries = 0 }): ThreadEvent => {
      const recoverAt = retryTime(retry, { failures: recoveries + 1, at, hash });
      const next = recoverAt === undefined ? {} : { recoverAt };
      return { type: 'recovery-failed', at, step, index, ...next };
    });
}
