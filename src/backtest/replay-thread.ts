import type { ToolSet } from 'ai';
import {
  type CallVerdict,
  checkRules,
  checkTools,
  decideCalls,
  type DecisionInput,
  makeDecisionInput,
  MadeInputs,
  defineToolsOnce,
  type ToolDefinitions,
} from '../agent.ts';
import { pickTerms } from '../content/approval-terms.ts';
import type { CallPlace, ToolCallOutcome } from '../content/tool-call.ts';
import { toCanonicalText } from '../policy/digest.ts';
import type { PrincipalId } from '../policy/same-person.ts';
import { isCausedByRequesters, type RunCause } from '../policy/run-context.ts';
import type { ToolApproval } from '../policy/tool-approval.ts';
import { makePlaceKey } from '../thread/calls-by-place.ts';
import { applyEntry } from '../thread/apply-events.ts';
import { listProposedCalls } from '../thread/proposed-calls.ts';
import type { ThreadEventOf } from '../thread/thread-event.ts';
import { makeEmptyThread, type ThreadState } from '../thread/thread-state.ts';
import {
  type LoggedDecision,
  readLoggedDecisions,
  type RecordedThread,
} from './recorded-threads.ts';
import type { AskedCall } from './standing-approval.ts';

/** A candidate's decision on a call; `fail`: it has no such tool, or nobody could answer. */
export type CandidateDecision = 'run' | 'ask' | 'deny' | 'fail';

/** A recorded step of a run that was caused by the only person for whom it works, as `runtimeContext` receives it. */
interface ReplayedStep {
  /** The thread of the step. */
  threadId: string;
  /** The principal of the latest message. */
  requestedBy?: unknown;
  /** Everybody whose unanswered message led to the step; `null` stands for an unknown person. */
  requesters: readonly unknown[];
}

/** A recorded call, and the candidate's decision on it. */
export interface ReplayedCall extends AskedCall, CallPlace {
  toolCallId: string;
  decision: CandidateDecision;
  /** The reason that the candidate gives. */
  reason?: string | undefined;
  logged: LoggedDecision;
}

/* The rules may be of any agent here. */
const agentName = 'backtest';

/** The rules to try, as an agent would have them. */
export interface BacktestRules<TOOLS extends ToolSet, RUNTIME_CONTEXT> {
  /** The tools of the agent. Their `needsApproval` counts; their `execute` is never called, and may be absent. */
  tools: TOOLS;
  /** The rules to try: the agent's option of this name. */
  toolApproval?: ToolApproval<TOOLS, RUNTIME_CONTEXT>;
  /** The context of each tool that has a `contextSchema`: the agent's option of this name. */
  toolsContext?: { readonly [NAME in keyof TOOLS]?: unknown };
  /**
   * Makes the runtime context that the rules get, which no log has, for each step from its thread and requesters. It is not called for a
   * step of a run that another person or a worker caused: that has no context in production either. Default: none.
   */
  runtimeContext?: (step: ReplayedStep) => RUNTIME_CONTEXT;
  /** Returns the name of a principal, as text: the agent's option of this name. */
  principalId?: (principal: unknown) => string;
}

/** The rules to try, and the settings with which they are applied. */
export interface Candidate {
  tools: ToolSet;
  definitions: ToolDefinitions;
  toolApproval: unknown;
  toolsContext: Readonly<Record<string, unknown>>;
  runtimeContext: (step: ReplayedStep) => unknown;
  principalId: PrincipalId;
}

/** Checks a candidate as an agent checks its options, and prepares its tools. Throws a `TypeError` for what an agent would refuse. */
export async function prepareCandidate({
  tools,
  toolApproval,
  toolsContext,
  runtimeContext,
  principalId,
}: Omit<Candidate, 'definitions'>): Promise<Candidate> {
  checkTools(tools);
  /* The people who may answer don't matter here, so that rules may name approvers. */
  checkRules(toolApproval, tools, { mayAnswer: () => true, name: agentName });
  const definitions = await defineToolsOnce(tools, toolsContext, () => undefined)();
  return { tools, definitions, toolApproval, toolsContext, runtimeContext, principalId };
}

/**
 * Decides about each call of a thread with the thread as it was when the call was proposed; returns it with the name of the thread's agent.
 * Runs no tool and calls no model.
 */
export async function replayThread(
  candidate: Candidate,
  { threadId, entries }: RecordedThread,
): Promise<{ agent: string | undefined; calls: ReplayedCall[] }> {
  const all = entries.flatMap(({ events }) => events);
  const logged = readLoggedDecisions(all);
  let cause: RunCause = { by: {} };
  const state = makeEmptyThread(threadId);
  const calls: ReplayedCall[] = [];
  for (const { events, hash } of entries) {
    let applied = 0;
    for (const [index, event] of events.entries()) {
      if (event.type === 'run-started') {
        cause = { by: { principal: event.principal } };
      }
      if (event.type !== 'step-finished') continue;
      applyEntry(state, { events: events.slice(applied, index), hash });
      applied = index;
      calls.push(...(await replayStep(candidate, state, { event, logged, cause })));
    }
    applyEntry(state, { events: events.slice(applied), hash });
  }
  return { agent: state.head.agent, calls };
}

async function replayStep(
  candidate: Candidate,
  state: ThreadState,
  {
    event,
    logged,
    cause,
  }: {
    event: ThreadEventOf<'step-finished'>;
    logged: ReadonlyMap<string, LoggedDecision>;
    /** The cause of the step's run. */
    cause: RunCause;
  },
): Promise<ReplayedCall[]> {
  const { step, at } = event;
  const { threadId, head } = state;
  const { agent, requesters } = head;
  const proposed = listProposedCalls(event).flatMap((call) => {
    const decision = logged.get(makePlaceKey(call));
    return decision === undefined
      ? []
      : [{ call: { ...call, ...decision.remade }, logged: decision }];
  });
  if (proposed.length === 0) return [];
  const verdicts = await decideCalls(
    makeReplayInput(candidate, state, { at, cause }),
    proposed.map(({ call, logged: { type } }) =>
      type === 'refused' ? { ...call, error: 'It was refused.' } : call,
    ),
    step,
  );
  return proposed.flatMap(({ call, logged: decision }, position) => {
    const verdict = verdicts[position];
    if (verdict === undefined) return [];
    const { index, toolCallId, toolName, input, providerApprovalId } = call;
    const decided = { ...describeVerdict(verdict, providerApprovalId), logged: decision };
    const place = { threadId, agent, step, index };
    return [{ ...place, toolCallId, toolName, input, requesters, ...decided }];
  });
}

/** Makes the input of the agent's decision, without standing approvals: only the rules count. */
function makeReplayInput(
  { toolApproval, tools, toolsContext, definitions, runtimeContext, principalId }: Candidate,
  state: ThreadState,
  { at, cause }: { at: number; cause: RunCause },
): DecisionInput {
  const { threadId, head, messages } = state;
  const { requestedBy, requesters } = head;
  const rules = { toolApproval, tools, toolsContext, now: () => at, generateId: () => 'backtest' };
  /* The people who may answer don't matter here. */
  const anybody = { mayAnswer: () => true, report: () => {} };
  const noGrants = { name: agentName, grants: undefined, principalId };
  const options = isCausedByRequesters(cause, head, principalId)
    ? { runtimeContext: runtimeContext({ threadId, requestedBy, requesters }) }
    : {};
  const run = { tools: definitions, options, cause, made: new MadeInputs() };
  const context = { ...rules, ...anybody, ...noGrants, toolCallConcurrency: Infinity };
  const decisions = makeDecisionInput(context, state, run, messages.length);
  return { ...decisions, findGrant: async () => undefined };
}

function describeVerdict(
  verdict: CallVerdict,
  providerApprovalId: string | undefined,
): Pick<ReplayedCall, 'decision' | 'reason' | 'terms'> {
  switch (verdict.type) {
    case 'start':
      return { decision: 'run' };
    case 'granted':
    case 'ask': {
      const request = verdict.type === 'ask' ? verdict.request : undefined;
      if (request?.type !== 'approval-request') return { decision: 'ask' };
      const terms =
        providerApprovalId === undefined ? toCanonicalText(pickTerms(request)) : undefined;
      return { decision: 'ask', reason: request.reason, terms };
    }
    case 'end':
      return decisionOfEnd(verdict.outcome);
  }
}

function decisionOfEnd(outcome: ToolCallOutcome): Pick<ReplayedCall, 'decision' | 'reason'> {
  switch (outcome.status) {
    case 'denied':
      return { decision: 'deny', reason: outcome.reason };
    case 'failed':
    case 'succeeded':
    case 'forwarded':
      return { decision: 'fail' };
  }
}
