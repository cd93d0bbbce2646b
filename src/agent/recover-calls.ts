import { plainCopy } from '../content/plain-copy.ts';
import type { ToolCallRecord } from '../content/tool-call.ts';
import type { NewThreadEvent, ThreadEvent } from '../thread/thread-event.ts';
import type { ThreadLog } from '../thread/thread-log.ts';
import {
  isSamePlace,
  statusOf,
  type ThreadHead,
  type ThreadState,
} from '../thread/thread-state.ts';
import { traceLost } from '../thread/tracing.ts';
import type { AgentContext } from './agent-context.ts';
import type { DeliveredOutcome, ToolRecovery } from './agent-options.ts';
import { applyRules } from './apply-rules.ts';
import { checkApproved } from './check-approved.ts';
import { endEvents } from './close-requests.ts';
import type { DecisionInput } from './decide-calls.ts';
import { parseDelivered, recordedOutcome } from './outside-outcome.ts';
import { beginningOf, type ToolDefinitions } from './tool-definitions.ts';

/* How often a call of an idempotent tool may be started in all. */
const defaultAttempts = 3;

/** Throws a `TypeError` for recovery of a name that is no tool's. */
export function checkRecovery(toolRecovery: object, tools: object): void {
  for (const name of Object.keys(toolRecovery)) {
    if (Object.hasOwn(tools, name)) continue;
    throw new TypeError(`toolRecovery names '${name}', which is no tool of this agent.`);
  }
}

/** The recovery that the app gave for a call's tool. */
function recoveryOf({ options }: AgentContext, { toolName }: ToolCallRecord): ToolRecovery {
  const recoveries = new Map(Object.entries(options.toolRecovery ?? {}));
  return recoveries.get(toolName) ?? {};
}

/**
 * Asks tools what became of calls that were started and whose process is gone, and records what is known: their result; or that
 * they go on elsewhere, as they ask a person. These are facts, and need no hold on the thread.
 */
export async function reconcileCalls(
  context: AgentContext,
  tools: ToolDefinitions,
  log: ThreadLog,
): Promise<readonly ThreadEvent[]> {
  const { state, revision } = log;
  const isLost = (): boolean => statusOf(state.head, context.now()) === 'indeterminate';
  if (!isLost()) return [];
  const { head } = state;
  const lost = head.calls.filter(({ status }) => status === 'started');
  const known = await Promise.all(
    lost.map(async (call) => reconcileCall(context, tools, { call, head })),
  );
  const events = await log.commit((proposal) => {
    /* Another attempt may have begun meanwhile, of which the tool was not asked. */
    if (log.revision === revision) proposal.add(...known.flat());
  });
  if (isLost()) traceLost(state, context.toldLost);
  return events;
}

async function reconcileCall(
  context: AgentContext,
  tools: ToolDefinitions,
  { call, head }: { call: ToolCallRecord; head: ThreadHead },
): Promise<NewThreadEvent[]> {
  const { step, index, toolName } = call;
  const outcome = await askTool(recoveryOf(context, call), call);
  const place = { at: context.now(), step, index };
  if (outcome === undefined)
    return isAsking(head, call) ? [{ type: 'call-deferred', ...place }] : [];
  const recorded = await recordedOutcome(tools.get(toolName), call, outcome);
  const source = 'reconciled';
  return endEvents(head, { type: 'call-ended', ...place, outcome: recorded, source });
}

/** Whether a call asks a person, or is owed an answer. */
function isAsking({ openRequests, owedAnswers }: ThreadHead, call: ToolCallRecord): boolean {
  return [...openRequests, ...owedAnswers].some(({ beside }) => isSamePlace(beside, call));
}

/* A tool that can't say, says something else, or fails to say, leaves the call as unknown as it was. */
async function askTool(
  { reconcile }: ToolRecovery,
  { toolCallId, input, idempotencyKey = toolCallId }: ToolCallRecord,
): Promise<DeliveredOutcome | undefined> {
  try {
    const copy = plainCopy(input);
    const outcome = await reconcile?.({ input: copy, idempotencyKey, toolCallId });
    return outcome === undefined ? undefined : parseDelivered(outcome);
  } catch {
    return undefined;
  }
}

/**
 * The starts of the calls whose process is gone and that may simply be started again: their tool is idempotent, tries are
 * left, and what was approved is what would run, at this time too; or the rules let it run unasked still.
 */
export async function restartsOf(
  context: AgentContext,
  decisions: DecisionInput,
  state: Readonly<ThreadState>,
): Promise<NewThreadEvent[]> {
  const calls = state.head.calls.filter((call) => mayRestart(context, decisions, call));
  const events = await Promise.all(
    calls.map(async (call): Promise<NewThreadEvent[]> => {
      const request = state.endedRequests.get(call.requestId ?? '')?.request;
      return request?.type === 'approval-request'
        ? checkApproved(decisions, { call, request })
        : restartOf(decisions, call);
    }),
  );
  return events.flat().filter(({ type }) => type === 'call-started');
}

/** The start of a call that needed nobody, if it needs nobody still. */
async function restartOf(
  { tools, rules, now }: DecisionInput,
  call: ToolCallRecord,
): Promise<NewThreadEvent[]> {
  const definition = tools.get(call.toolName);
  if (definition === undefined || definition.asking !== undefined) return [];
  const { toolCallId, toolName, input } = call;
  const decision = await applyRules(rules, definition, { toolCallId, toolName, input });
  return decision.type === 'run' ? [beginningOf(definition, call, now())] : [];
}

function mayRestart(
  context: AgentContext,
  { tools }: DecisionInput,
  call: ToolCallRecord,
): boolean {
  const { idempotent = false, maxAttempts = defaultAttempts } = recoveryOf(context, call);
  const isLost = call.status === 'started' && tools.has(call.toolName);
  return isLost && idempotent && call.attempts < maxAttempts;
}
