import { isKeptByStore } from '../../content/approval-terms.ts';
import {
  type CallPlace,
  pickToolCall,
  type ToolCallOutcome,
  type ToolCallRecord,
} from '../../content/tool-call.ts';
import { type Awaitable, continueWith, mapTogether } from '../../content/waiting.ts';
import { isEqualJson, digestShown } from '../../policy/digest.ts';
import { whyNotStrictJson } from '../../json/strict-json.ts';
import type { ThreadEvent } from '../../thread/thread-event.ts';
import {
  type EndedRequest,
  isExpired,
  type ThreadHead,
  listDueCalls,
  countFreeSlots,
  isResumable,
} from '../../thread/thread-head.ts';
import type { ThreadState } from '../../thread/thread-state.ts';
import {
  type ApprovedCall,
  askAgain,
  askEdited,
  askUnfit,
  findEditDemands,
  makeUnrunEvents,
  outdated,
} from './outdated-approval.ts';
import { listUnstartedApprovals, makeUnstartedOutcome } from './close-requests.ts';
import { type CallVerdict, decideCall, type DecisionInput, applyRules } from './decide-calls.ts';
import type { GrantUse } from './find-grant.ts';
import { makeOpenedEvent, makeProviderRunner, makeOwnRunner } from './make-request.ts';
import { whyNotEdited } from './input-validation.ts';
import type { ToolDefinition, ToolDefinitions } from './tool-definitions.ts';

/** What is recorded about a call together: its start or its end, and what led to it. */
export interface CheckedCall {
  events: readonly ThreadEvent[];
  /** The standing approval that it uses, and how many more uses that had. */
  use?: GrantUse | undefined;
}

/** The results of the last check, by `makeCheckKey`. */
export type CheckedCalls = ReadonlyMap<string, CheckedCall>;

/** The calls that can start or resume now. */
interface PreparedStarts {
  isEmpty: boolean;
  /** The events that record it, in a newer head. */
  events: (head: ThreadHead) => ThreadEvent[];
}

/** Checks which calls can start or resume now. Records nothing. */
export function prepareStarts(
  decisions: DecisionInput,
  state: ThreadState,
): Awaitable<PreparedStarts> {
  const { tools, now, limit } = decisions;
  const resumes = (head: ThreadHead) => listResumes(head, tools, { at: now() });
  return continueWith(
    checkStartableCalls(decisions, state, state.head),
    (starts): PreparedStarts => ({
      isEmpty: starts.size === 0 && takeTurns(resumes(state.head), state.head, limit).length === 0,
      events: (head) => takeTurns([...listStillDue(head, starts), ...resumes(head)], head, limit),
    }),
  );
}

/** Makes the last check of the calls in `head` that can start now. Records nothing. */
export function checkStartableCalls(
  decisions: DecisionInput,
  state: ThreadState,
  head: ThreadHead,
): Awaitable<CheckedCalls> {
  const checked = new Map<string, CheckedCall>();
  const approvals = new Map(
    listUnstartedApprovals({ state, head }).map((ended) => [ended.request.requestId, ended]),
  );
  const checking = mapTogether(listDueCalls(head, decisions.limit), (call) => {
    const approved = findCallApproval(call, approvals);
    const found =
      approved === undefined ? checkUnasked(decisions, call) : checkApproved(decisions, approved);
    return continueWith(found, (each) => {
      if (each.events.length > 0) checked.set(makeCheckKey(call), each);
    });
  });
  return continueWith(checking, () => checked);
}

/** An approved call with its request, also if its approval is not recorded yet; `undefined` for a call that needed no approval. */
function findCallApproval(
  call: ToolCallRecord,
  approvals: ReadonlyMap<string, EndedRequest>,
): ApprovedCall | undefined {
  if (call.status !== 'approved') return undefined;
  const ended = approvals.get(call.requestId ?? '');
  const { request, startBy } = ended ?? {};
  return request?.type === 'approval-request' ? { call, request, startBy } : undefined;
}

/**
 * The last check before an approved call starts: the events that start it (or let its provider run it), or those that record why it must
 * not. What was shown is recomputed from the stored bytes; if it differs, or was approved too long ago, the call is asked about again.
 */
export function checkApproved(
  input: DecisionInput,
  approved: ApprovedCall,
): Awaitable<CheckedCall> {
  const { providerApprovalId } = approved.call;
  const checking =
    providerApprovalId === undefined
      ? checkOwn(input, approved)
      : checkForwarded(input, approved, providerApprovalId);
  return continueWith(checking, (events) => ({ events }));
}

function checkOwn(input: DecisionInput, approved: ApprovedCall): Awaitable<ThreadEvent[]> {
  const { call, request } = approved;
  const { toolName } = call;
  const at = input.now();
  const definition = input.tools.get(toolName);
  /* It waits for an agent that has the tool, perhaps another version of the app. */
  if (definition === undefined) return [];
  if (definition.asking !== undefined) {
    const error = `Not run: the tool '${toolName}' now asks a question and cannot run.`;
    return makeUnrunEvents(approved, error, at);
  }
  const fault = whyNotStrictJson(call.input);
  if (fault !== undefined) return makeUnrunEvents(approved, describeDamage(fault), input.now());
  return continueWith(digestShown(request, call, definition.digest), (shown) => {
    if (!isAsShown(approved, shown)) {
      const runner = makeOwnRunner(definition, input.rules.messages);
      return askAgain(input, approved, { reason: outdated.changed, runner, definition });
    }
    const start = call.edit === undefined ? startUnlessDenied : startEdited;
    return start(input, approved, { definition, at });
  });
}

/** The start of a call that was edited, unless its tool does not take the input: who took the edit may not have had the tool. */
async function startEdited(
  input: DecisionInput,
  approved: ApprovedCall,
  found: FoundTool,
): Promise<ThreadEvent[]> {
  const { definition } = found;
  const { call } = approved;
  /* An edit that makes it throw would keep every run from going on. */
  const fail = (error: unknown): { text: string } => {
    const setting = `tools.${definition.name}.inputSchema`;
    const problem = 'It threw an error about an input that a person had edited.';
    const { threadId, report } = input;
    report({ threadId, setting, kind: 'error', problem, toolCall: pickToolCall(call), error });
    return { text: "the tool's input schema failed" };
  };
  const why = await whyNotEdited(definition.validation.edit, call.input).catch(fail);
  if (why !== undefined) return askUnfit(input, approved, { why: why.text, definition });
  return startUnlessDenied(input, approved, found);
}

/** The tool of a call, and when it was found. */
interface FoundTool {
  definition: ToolDefinition;
  at: number;
}

/** The start of a call that is as shown, unless the rules deny it now, or demand another approval for its edited input. */
function startUnlessDenied(
  input: DecisionInput,
  approved: ApprovedCall,
  { definition, at }: FoundTool,
): Awaitable<ThreadEvent[]> {
  const { call, request } = approved;
  const start = [makeStartEvent(definition, call, at)];
  return continueWith(
    applyRules(input.rules, definition, call),
    (decision): Awaitable<ThreadEvent[]> => {
      if (decision.type === 'deny') {
        const { step, index } = call;
        const outcome = makeUnstartedOutcome(call, decision.reason);
        return [{ type: 'call-ended', at, step, index, outcome }];
      }
      if (decision.type === 'fail') return makeUnrunEvents(approved, decision.error, at);
      if (isExpired({ expiresAt: approved.startBy }, input.now())) {
        const runner = makeOwnRunner(definition, input.rules.messages);
        return askAgain(input, approved, { reason: outdated.late, runner, definition });
      }
      if (request.edit === undefined) return start;
      const demanding = findEditDemands(input.rules, definition, { ...approved, decision });
      return demanding.then((asked) =>
        asked === undefined
          ? start
          : askEdited(input, approved, asked, makeOwnRunner(definition, input.rules.messages)),
      );
    },
  );
}

/** Our tools and rules do not apply to what the provider runs, whatever its name. */
async function checkForwarded(
  input: DecisionInput,
  approved: ApprovedCall,
  approvalId: string,
): Promise<ThreadEvent[]> {
  const { step, index, toolName, input: called } = approved.call;
  const fault = whyNotStrictJson(called);
  if (fault !== undefined) return makeUnrunEvents(approved, describeDamage(fault), input.now());
  const runner = await makeProviderRunner(toolName, approvalId);
  const shown = await digestShown(approved.request, approved.call, runner.digest);
  const at = input.now();
  if (!isAsShown(approved, shown))
    return askAgain(input, approved, { reason: outdated.changed, runner });
  if (isExpired({ expiresAt: approved.startBy }, at))
    return askAgain(input, approved, { reason: outdated.late, runner });
  const outcome: ToolCallOutcome = { status: 'forwarded' };
  return [{ type: 'call-ended', at, step, index, outcome }];
}

/** Whether the stored bytes of a call, and what would run it, are what was shown: `shown` is their digest. */
function isAsShown({ call, request }: ApprovedCall, shown: string): boolean {
  return request.digest === shown && isEqualJson(request.toolCall?.input, call.input);
}

function describeDamage(fault: string): string {
  return `Not run: the stored input is damaged: ${fault}.`;
}

/**
 * Decides again about a call that needed no approval and has waited for its turn: the rules, or the version of the app, may have changed.
 * A call whose tool is missing waits for an agent that has it.
 */
function checkUnasked(input: DecisionInput, call: ToolCallRecord): Awaitable<CheckedCall> {
  const definition = input.tools.get(call.toolName);
  if (call.status !== 'proposed' || definition === undefined) return { events: [] };
  return continueWith(decideCall(input, call, call), (verdict) => {
    const at = input.now();
    if (verdict.type !== 'granted') return { events: applyVerdict(verdict, call, at) };
    return { events: makeGrantedEvents(verdict.use, definition, call, at), use: verdict.use };
  });
}

/** The events of a call that a standing approval decides. */
function makeGrantedEvents(
  { grant }: GrantUse,
  definition: ToolDefinition,
  { step, index }: CallPlace,
  at: number,
): ThreadEvent[] {
  const place = { step, index };
  const { grantId, scope, decision, reason, threadId, requestId } = grant;
  const use = { grantId, scope, decision, threadId, requestId };
  const used: ThreadEvent = { type: 'grant-used', at, ...place, ...use };
  if (decision === 'approved') return [used, makeStartEvent(definition, place, at)];
  return [used, { type: 'call-ended', at, ...place, outcome: { status: 'denied', reason } }];
}

/** The events that a verdict on a call becomes. A call that a standing approval decides stays proposed until its use can be recorded. */
export function applyVerdict(
  verdict: CallVerdict,
  { step, index }: CallPlace,
  at: number,
): ThreadEvent[] {
  const place = { step, index };
  switch (verdict.type) {
    case 'start':
      return [makeStartEvent(verdict.definition, place, at)];
    case 'ask':
      return [makeOpenedEvent(place, verdict.request)];
    case 'end':
      return [{ type: 'call-ended', at, ...place, outcome: verdict.outcome }];
    case 'granted':
      return [];
  }
}

/** The event that starts a call. Without an `execute` the call starts elsewhere, and its outcome is delivered. */
export function makeStartEvent(
  { tool, delegation }: ToolDefinition,
  { step, index, expiresAt }: CallPlace & Pick<ToolCallRecord, 'expiresAt'>,
  at: number,
): ThreadEvent {
  const type = tool.execute === undefined ? 'call-deferred' : 'call-started';
  const { expiresAfterMs } = delegation ?? {};
  const isLimited = expiresAfterMs !== undefined && expiresAt === undefined;
  return { type, at, step, index, ...(isLimited ? { expiresAt: at + expiresAfterMs } : {}) };
}

/** The delegated calls that are due by `until`, resumed. */
export function listResumes(
  { calls }: ThreadHead,
  tools: ToolDefinitions,
  { at, until = at }: { at: number; until?: number },
): CheckedCall[] {
  const resumes: CheckedCall[] = [];
  for (const call of calls) {
    if (call.agent === undefined || !isResumable(call, until)) continue;
    const definition = tools.get(call.toolName);
    if (definition?.delegation !== undefined)
      resumes.push({ events: [makeStartEvent(definition, call, at)] });
  }
  return resumes;
}

/* An approval counts for its own request only. */
function makeCheckKey({ requestId, step, index }: ToolCallRecord): string {
  return `${step}.${index}.${requestId}`;
}

/** The checked calls that can still start in a newer head. */
export function listStillDue(head: ThreadHead, checked: CheckedCalls): CheckedCall[] {
  const due: CheckedCall[] = [];
  for (const call of listDueCalls(head)) {
    const found = checked.get(makeCheckKey(call));
    if (found !== undefined) due.push(found);
  }
  return due;
}

/**
 * The events of the calls, without those whose starts would exceed `limit` in a step with this head before them, or whose standing
 * approval has no use left for them.
 */
export function takeTurns(
  calls: readonly CheckedCall[],
  head: ThreadHead,
  limit: number,
): ThreadEvent[] {
  if (calls.length === 0) return [];
  const taken: ThreadEvent[] = [];
  let free = countFreeSlots(head, limit);
  const uses = new Map(
    head.grants.map(({ grant, usesLeft }) => [grant.grantId, usesLeft ?? Infinity]),
  );
  for (const { events, use } of calls) {
    const starts = events.some(({ type }) => type === 'call-started');
    if (starts && free-- <= 0) continue;
    if (use !== undefined) {
      const { grantId, scope } = use.grant;
      const left = uses.get(grantId) ?? (isKeptByStore(scope) ? (use.usesLeft ?? Infinity) : 0);
      uses.set(grantId, left - 1);
      if (left <= 0) continue;
    }
    taken.push(...events);
  }
  return taken;
}
