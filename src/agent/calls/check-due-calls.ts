import type { CallPlace, ToolCallRecord } from '../../content/tool-call.ts';
import type { ThreadEvent } from '../../thread/thread-event.ts';
import { dueCalls, freeSlots } from '../../thread/thread-status.ts';
import type { ThreadHead } from '../../thread/thread-head.ts';
import type { ThreadState } from '../../thread/thread-state.ts';
import { checkApproved, openedEvent } from './check-approved.ts';
import { type CallVerdict, decideCall, type DecisionInput } from './decide-calls.ts';
import type { GrantUse } from './find-grant.ts';
import { resumeEvents, startEvent, type ToolDefinition } from './tool-definitions.ts';

/** What is recorded about a call together: its start or its end, and what led to it. */
export interface CheckedCall {
  events: readonly ThreadEvent[];
  /** The standing approval that it uses, and how many more uses that had. */
  use?: GrantUse | undefined;
}

/** An event that nothing has to be recorded with. */
export function alone(event: ThreadEvent): CheckedCall {
  return { events: [event] };
}

/** The results of the last check, by `makeCheckKey`. */
export type CheckedCalls = ReadonlyMap<string, CheckedCall>;

/** The calls that can start or resume now. */
interface DueStarts {
  isEmpty: boolean;
  /** The events that record it, in a newer head. */
  events: (head: ThreadHead) => ThreadEvent[];
}

/** Checks which calls can start or resume now. Records nothing. */
export async function startsDue(decisions: DecisionInput, state: ThreadState): Promise<DueStarts> {
  const { tools, now, limit } = decisions;
  const starts = await checkDueCalls(decisions, state, state.head);
  const resumes = (head: ThreadHead): CheckedCall[] =>
    resumeEvents(head, tools, { at: now() }).map(alone);
  return {
    isEmpty: starts.size === 0 && inTurn(resumes(state.head), state.head, limit).length === 0,
    events: (head) => inTurn([...stillDue(head, starts), ...resumes(head)], head, limit),
  };
}

/** Makes the last check of the calls in `head` that can start now. Records nothing. */
export async function checkDueCalls(
  decisions: DecisionInput,
  state: ThreadState,
  head: ThreadHead,
): Promise<CheckedCalls> {
  const due = dueCalls(head, decisions.limit);
  if (due.length === 0) return new Map();
  const justEnded = new Map(
    head.newlyPast.requests.map((ended) => [ended.request.requestId, ended]),
  );
  const checked = await Promise.all(
    due.map(async (call): Promise<[string, CheckedCall]> => {
      const { requestId = '' } = call;
      const { request } = justEnded.get(requestId) ?? state.endedRequests.get(requestId) ?? {};
      const isApproved = call.status === 'approved' && request?.type === 'approval-request';
      if (isApproved) {
        return [makeCheckKey(call), { events: await checkApproved(decisions, { call, request }) }];
      }
      return [makeCheckKey(call), await checkUnasked(decisions, call)];
    }),
  );
  return new Map(checked.filter(([, { events }]) => events.length > 0));
}

/**
 * Decides again about a call that needed no approval and has waited for its turn: the rules, or the version of the app, may have changed.
 * A call whose tool is missing waits for an agent that has it.
 */
async function checkUnasked(input: DecisionInput, call: ToolCallRecord): Promise<CheckedCall> {
  const definition = input.tools.get(call.toolName);
  if (call.status !== 'proposed' || definition === undefined) return { events: [] };
  const verdict = await decideCall(input, call, call);
  const at = input.now();
  if (verdict.type !== 'granted') return { events: verdictEvents(verdict, call, at) };
  return { events: grantedEvents(verdict.use, definition, call, at), use: verdict.use };
}

/** The events of a call that a standing approval decides. */
function grantedEvents(
  { grant }: GrantUse,
  definition: ToolDefinition,
  { step, index }: CallPlace,
  at: number,
): ThreadEvent[] {
  const place = { step, index };
  const { grantId, scope, decision, reason, threadId, requestId } = grant;
  const used: ThreadEvent = {
    type: 'grant-used',
    at,
    ...place,
    grantId,
    scope,
    decision,
    threadId,
    requestId,
  };
  if (decision === 'approved') return [used, startEvent(definition, place, at)];
  return [used, { type: 'call-ended', at, ...place, outcome: { status: 'denied', reason } }];
}

/** The events that a verdict on a call becomes. A call that a standing approval decides stays proposed until its use can be recorded. */
export function verdictEvents(
  verdict: CallVerdict,
  { step, index }: CallPlace,
  at: number,
): ThreadEvent[] {
  const place = { step, index };
  switch (verdict.type) {
    case 'start':
      return [startEvent(verdict.definition, place, at)];
    case 'ask':
      return [openedEvent(place, verdict.request)];
    case 'end':
      return [{ type: 'call-ended', at, ...place, outcome: verdict.outcome }];
    case 'granted':
      return [];
  }
}

/* An approval counts for its own request only. */
function makeCheckKey({ requestId, step, index }: ToolCallRecord): string {
  return `${step}.${index}.${requestId}`;
}

/** The checked calls that can still start in a newer head. */
export function stillDue(head: ThreadHead, checked: CheckedCalls): CheckedCall[] {
  return dueCalls(head).flatMap((call) => checked.get(makeCheckKey(call)) ?? []);
}

/**
 * The events of the calls, without those whose starts would exceed `limit` in a step with this head before them, or whose standing
 * approval has no use left for them.
 */
export function inTurn(
  calls: readonly CheckedCall[],
  head: ThreadHead,
  limit: number,
): ThreadEvent[] {
  let free = freeSlots(head, limit);
  const uses = new Map(
    head.grants.map(({ grant, usesLeft }) => [grant.grantId, usesLeft ?? Infinity]),
  );
  return calls.flatMap(({ events, use }) => {
    if (events.some(({ type }) => type === 'call-started') && free-- <= 0) return [];
    if (use === undefined) return events;
    const { grantId, scope } = use.grant;
    const left = uses.get(grantId) ?? (scope === 'thread' ? 0 : (use.usesLeft ?? Infinity));
    uses.set(grantId, left - 1);
    return left > 0 ? events : [];
  });
}
