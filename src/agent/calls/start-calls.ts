import { isKeptByStore } from '../../content/approval-terms.ts';
import {
  type CallPlace,
  type ToolCallOutcome,
  type ToolCallRecord,
} from '../../content/tool-call.ts';
import { isEqualJson, digestShown } from '../../policy/digest.ts';
import { listUnshown } from '../../json/json-form.ts';
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
  askRemade,
  endUnstarted,
  findEditDemands,
  makeUnrunEvents,
  outdated,
} from './outdated-approval.ts';
import { listUnstartedApprovals } from './close-requests.ts';
import { type CallVerdict, decideCall, type DecisionInput, applyRules } from './decide-calls.ts';
import type { GrantUse } from './find-grant.ts';
import { makeOpenedEvent, makeProviderRunner, makeOwnRunner } from './make-request.ts';
import { makeRemadeEvents, type Remade, remakeInput } from './made-input.ts';
import type { ToolDefinition, ToolDefinitions } from './tool-definitions.ts';

/** The events of a call that are recorded together: its start or end, and the events that led to it. */
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
export async function prepareStarts(
  decisions: DecisionInput,
  state: ThreadState,
): Promise<PreparedStarts> {
  const { tools, now, limit } = decisions;
  const resumes = (head: ThreadHead) => listResumes(head, tools, { at: now() });
  const starts = await checkStartableCalls(decisions, state, state.head);
  return {
    isEmpty: starts.size === 0 && takeTurns(resumes(state.head), state.head, limit).length === 0,
    events: (head) => takeTurns([...listStillDue(head, starts), ...resumes(head)], head, limit),
  };
}

/** Makes the last check of the calls in `head` that can start now. Records nothing. */
export async function checkStartableCalls(
  decisions: DecisionInput,
  state: ThreadState,
  head: ThreadHead,
): Promise<CheckedCalls> {
  const checked = new Map<string, CheckedCall>();
  const approvals = new Map(
    listUnstartedApprovals({ state, head }).map((ended) => [ended.request.requestId, ended]),
  );
  const check = async (call: ToolCallRecord): Promise<void> => {
    const approved = findCallApproval(call, approvals);
    const found = await (approved === undefined
      ? checkUnasked(decisions, call)
      : checkApproved(decisions, approved));
    if (found.events.length > 0) checked.set(makeCheckKey(call), found);
  };
  await Promise.all(listDueCalls(head, decisions.limit).map(check));
  return checked;
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
 * Makes the last check before an approved call starts. Returns the events that start it (or let its provider run it), or those that record
 * why it must not. The shown request is recomputed from the stored bytes; if it differs, or was approved too long ago, the call is asked
 * about again. See ADR 5.
 */
export async function checkApproved(
  input: DecisionInput,
  approved: ApprovedCall,
): Promise<CheckedCall> {
  const { providerApprovalId } = approved.call;
  const events = await (providerApprovalId === undefined
    ? checkOwn(input, approved)
    : checkForwarded(input, approved, providerApprovalId));
  return { events };
}

async function checkOwn(input: DecisionInput, approved: ApprovedCall): Promise<ThreadEvent[]> {
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
  const remade = await remake(input, definition, call);
  if ('error' in remade) return makeUnrunEvents(approved, remade.error, at, remade.reason);
  if (!remade.isSame) return askRemade(input, approved, { remade, definition });
  const shown = await digestShown(request, call, definition.digest);
  if (isAsShown(approved, shown)) return startUnlessDenied(input, approved, { definition, at });
  const runner = makeOwnRunner(definition, input.rules.messages);
  return askAgain(input, approved, { reason: outdated.changed, runner, definition });
}

/** Has the schema of a call's tool make its input again, and keeps the result for the start. */
async function remake(
  { made, threadId, report }: DecisionInput,
  definition: ToolDefinition,
  call: ToolCallRecord,
): Promise<Remade> {
  const remade = await remakeInput(definition, call, (failure) => report({ threadId, ...failure }));
  if (!('error' in remade) && remade.form.types !== undefined) made.keep(call, remade.made);
  return remade;
}

/** The tool of a call, and when it was found. */
interface FoundTool {
  definition: ToolDefinition;
  at: number;
}

/** The start of a call that is as shown, unless the rules deny it now, or demand another approval for its edited input. */
async function startUnlessDenied(
  input: DecisionInput,
  approved: ApprovedCall,
  { definition, at }: FoundTool,
): Promise<ThreadEvent[]> {
  const { call, request } = approved;
  const start = [makeStartEvent(definition, call, at)];
  const runner = makeOwnRunner(definition, input.rules.messages);
  const decision = await applyRules(input.rules, definition, call);
  if (decision.type === 'deny') return endUnstarted(call, decision.reason, at);
  if (decision.type === 'fail') return makeUnrunEvents(approved, decision.error, at);
  if (isExpired({ expiresAt: approved.startBy }, input.now())) {
    return askAgain(input, approved, { reason: outdated.late, runner, definition });
  }
  if (request.edit === undefined) return start;
  const asked = await findEditDemands(input.rules, definition, { ...approved, decision });
  return asked === undefined ? start : askEdited(input, approved, asked, runner);
}

/** Our tools and rules do not apply to a call that the provider runs, even if it has the name of one. */
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

/** Checks whether the stored bytes of a call, and its runner, are those that were shown: `shown` is their digest. */
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
async function checkUnasked(input: DecisionInput, call: ToolCallRecord): Promise<CheckedCall> {
  const definition = input.tools.get(call.toolName);
  if (call.status !== 'proposed' || definition === undefined) return { events: [] };
  const remade = await remake(input, definition, call);
  if ('error' in remade) {
    const outcome = { status: 'failed', error: remade.error } as const;
    return { events: applyVerdict({ type: 'end', outcome }, call, input.now()) };
  }
  const { json, types } = remade.form;
  const proposed = remade.isSame ? call : { ...call, input: json, inputTypes: types };
  const verdict = await decideCall(input, proposed, call);
  const at = input.now();
  const before = makeRemadeEvents(call, remade, at);
  if (verdict.type !== 'granted')
    return { events: [...before, ...applyVerdict(verdict, call, at)] };
  const events = makeGrantedEvents(verdict.use, definition, call, at);
  return { events: [...before, ...events], use: verdict.use };
}

/**
 * Has the tool of a call that needed no approval make its input again; returns the start of the call if the input is certainly the same and
 * still needs no approval. A value without a JSON form can't be compared.
 */
export async function checkRestart(
  input: DecisionInput,
  definition: ToolDefinition,
  call: ToolCallRecord,
): Promise<ThreadEvent[]> {
  if (listUnshown(call.inputTypes).length > 0) return [];
  const remade = await remake(input, definition, call);
  if ('error' in remade || !remade.isSame) return [];
  const decision = await applyRules(input.rules, definition, call);
  return decision.type === 'run' ? [makeStartEvent(definition, call, input.now())] : [];
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

/** Makes the events of a verdict on a call. A call that a standing approval decides stays proposed until its use can be recorded. */
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

/** Makes the events that resume the delegated calls which are due by `until`. */
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
 * Takes the events of the calls, without those whose starts would exceed `limit` in a step with this head, or whose standing approval has
 * no use left.
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
