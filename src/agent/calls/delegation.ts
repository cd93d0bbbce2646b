import type { Tool, ToolSet } from 'ai';
import type { ApprovalRequest } from '../../content/approval.ts';
import type {
  CallPlace,
  ToolCall,
  ToolCallRecord,
  ToolCallOutcome,
} from '../../content/tool-call.ts';
import type { ChangingAct } from '../../content/act.ts';
import type { AskedAnswer, UserInputRequest } from '../../content/user-input.ts';
import type { Right } from '../../content/vote.ts';
import type { RunCause } from '../../policy/run-context.ts';
import { listAskedDuring } from '../../thread/open-requests.ts';
import type { Decide, Proposal } from '../../thread/proposal.ts';
import type { ThreadEvent } from '../../thread/thread-event.ts';
import {
  callAt,
  type EndedRequest,
  type OpenRequest,
  type ThreadHead,
} from '../../thread/thread-head.ts';
import type { ThreadLog } from '../../thread/thread-log.ts';
import type { MayStand } from './find-grant.ts';

/** A call that is delegated to a sub-agent. See ADR 33. */
export interface DelegatedCall extends ToolCall {
  /** The parent thread. */
  threadId: string;
  /** The same in every process, attempt, and copy of the thread: the child thread's id derives from it. */
  idempotencyKey: string;
  /** The time until which the sub-agent may work, in milliseconds since 1970. */
  expiresAt?: number | undefined;
}

/** The result of executing a call: its outcome, or that it continues elsewhere. */
export type Execution =
  | { type: 'ended'; outcome: ToolCallOutcome; requests?: Reporting }
  | { type: 'deferred'; expiresAfterMs?: number }
  /** Its outcome is unknown: it ignored its time limit, or its agent could not be reached. */
  | { type: 'lost'; error?: string }
  /** An agent works on it, and waits: `events` records that. */
  | { type: 'delegated'; events: Reporting };

/** Makes the events to record about a delegated call, from the newest state of its thread. */
export type Reporting = (proposal: Proposal, at: number) => ThreadEvent[];

/** The circumstances in which a sub-agent works on a delegated call. */
export interface DelegatedWork {
  /** The parent thread. */
  threadId: string;
  /** The call's input, as the tool's schema parsed it. */
  input: unknown;
  /** The names of the agents in the path, outermost first, the parent agent last; `null` for an agent without a name. */
  agents: readonly (string | null)[];
  /** The sender of the latest message to the parent agent. */
  principal: unknown;
  /** Everybody for whom the parent agent runs. */
  requesters: readonly unknown[];
  /** The `runtimeContext` of the parent's run; `undefined` if it has none. */
  runtimeContext: unknown;
  /** The cause of the parent's run, with whether the run has its context. */
  cause: RunCause;
  /** The decided request for approval of the call, if it had one. */
  approval: EndedRequest | undefined;
  /** Records events while the work continues, under the lease of the run. Later events replace those that are not recorded yet. */
  report: (events: Reporting) => void;
  /** The open requests of the sub-agent, as the thread of the call shows them now. */
  shown: () => ShownRequests;
  /** Finds who cancelled a request that was passed on, in the thread of the call; `undefined` if nobody did. */
  cancelledBy: (requestId: string) => Sender | undefined;
  mayStand: MayStand | undefined;
  /** Finds who asked the run to stop; `undefined` if nobody has. */
  stoppedBy: () => Sender | undefined;
  /** Checks whether the thread of the call says that a request was answered. */
  isAnswered: (requestId: string) => boolean;
  /** The time in the thread of the call, in milliseconds since 1970. */
  now: () => number;
  /** True if a person stopped the turn: the sub-agent is cancelled. */
  isStopped: boolean;
  /** Aborts when the work must end. */
  signal: AbortSignal;
  /** True if aborted work is resumed later; otherwise the sub-agent is cancelled. */
  isResumedLater: () => boolean;
}

/** An answer for a sub-agent to check. */
export interface PassedOn extends AskedAnswer {
  /** The right in which the sender answers. */
  right: Right;
  /** The people whose earlier approvals no longer count, as the agents of the threads above say. */
  revoked?: ReadonlySet<string> | undefined;
  /** The time when the request closes in the threads above, with the calls there. The sub-agent's own request may lack this deadline. */
  until?: number | undefined;
  /** True if the sender must not have answered before. */
  onlyIfUnspent?: boolean | undefined;
  /**
   * True if the answer is only a question: whether the sender may end the request with this rejection, or take back its recorded approval.
   */
  isEnding?: boolean | undefined;
  /** Asks the agents of the threads above whether the sender may end another request of the sub-agent with the answer. */
  mayEnd?: MayEnd | undefined;
}

/** Throws `not-allowed` unless the sender of an answer may end another request with it. */
export type MayEnd = (request: UserInputRequest) => Promise<void>;

/** A recorded approval in the thread of a sub-agent, or below, that is not used yet. */
export interface UnstartedApproval {
  requestId: string;
  /** True if a stop holds it. */
  isHeld: boolean;
}

/** The cancellation of an agent's work, or of approvals that it has not used yet: why, and who does it. */
export interface Cancellation {
  reason: string;
  by: Sender;
}

/** Answers that were checked. */
export interface CheckedAnswers {
  /** The text of the answered approval request as the answer would leave it: an edit may change it. */
  text: string | undefined;
  /** True if the answer repeats one that was recorded, and changes nothing. */
  isRepeated: boolean;
  /** Records the answers. Rejects, as `agent.respond` does, if one is refused meanwhile. */
  record: () => Promise<void>;
}

/** The person who acts, and their channel. */
interface Sender {
  principal?: unknown;
  channel?: string;
}

/** A person's change of a request of a sub-agent, as the thread above passes it on. */
export interface PassedChange {
  change: ChangingAct;
  /** The request, as the thread above shows it. */
  request: ApprovalRequest;
  by: Sender;
  /** The right in which the person may do it, where the agents above were asked. */
  right?: Right | undefined;
}

/** The open requests of a delegated call's sub-agent, as the thread of the call shows them. */
export interface ShownRequests {
  place: CallPlace;
  requests: readonly UserInputRequest[];
}

/** Commits the proposal of `decide`, by default to the log. */
export type Commit = (
  log: ThreadLog,
  decide: Decide,
  commit?: (decide: Decide) => Promise<readonly ThreadEvent[]>,
) => Promise<readonly ThreadEvent[]>;

/** Delegates a tool's calls to another agent. */
export interface Delegation {
  /** The sub-agent's name. */
  agent: string;
  /** The time that a call may take, in milliseconds. */
  expiresAfterMs?: number | undefined;
  /**
   * Works on a call that is recorded as started, until it has ended or waits. Called again to resume the same call: after an
   * answer, at its `resumeAt`, and after a crash. Never rejects.
   */
  work(tool: Tool, call: ToolCallRecord, work: DelegatedWork): Promise<Execution>;
  /** Cancels the sub-agent of a call, before the call's end is recorded in the parent thread. May be called again. `by` was allowed to. */
  cancel(call: DelegatedCall, reason: string, by: Sender): Promise<void>;
  /**
   * Commits the proposal of `decide`. First it cancels the sub-agents of the calls that the proposal ends: once the log has a call as
   * cancelled or expired, its sub-agent has stopped. Rejects with the errors of `decide` and `commit`.
   */
  commitCancelled(tools: ToolSet, ...input: Parameters<Commit>): ReturnType<Commit>;
  /**
   * Rejects, as `agent.respond` does, unless the sub-agent would accept the answer to its request. Records nothing: the result has the
   * sub-agent record the answer.
   */
  check(call: DelegatedCall, asked: PassedOn): Promise<CheckedAnswers>;
  /** Ends the sub-agent's run, and holds what people have approved there. */
  stop(call: DelegatedCall, by: Sender): Promise<void>;
  /** Lists the recorded approvals of the sub-agent that are not used yet. */
  approvals(call: DelegatedCall): Promise<readonly UnstartedApproval[]>;
  /** Has the sub-agent release these approvals, which a stop holds. `by` was allowed to. */
  release(call: DelegatedCall, requestIds: readonly string[], by: Sender): Promise<void>;
  /** Has the sub-agent cancel the calls of these approvals that have not begun. `by` was allowed to. */
  takeBack(
    call: DelegatedCall,
    requestIds: readonly string[],
    cancellation: Cancellation,
  ): Promise<void>;
  /** Has the sub-agent record a person's change of its request. Rejects, as the agent's own method does. */
  change(call: DelegatedCall, passed: PassedChange): Promise<void>;
  /** The sub-agent's tools. */
  definedTools(): ToolsBelow | Promise<ToolsBelow>;
  /** Reads the sub-agent's thread. The result repeats in the parent thread what was recorded about the sub-agent's requests. */
  mirror(call: DelegatedCall, shown: ShownRequests): Promise<Reporting>;
}

/** A sub-agent's tools by name, as the agents above it see them. */
export type ToolsBelow = ReadonlyMap<
  string,
  { inputSchema: unknown; delegation: Delegation | undefined }
>;

/** A delegated call during which a sub-agent asks. */
export interface MirroredCall {
  delegation: Delegation;
  call: DelegatedCall;
  beside: CallPlace;
}

/** The key of a tool's delegation. A registered symbol, so that it works across two copies of the package. */
export const delegating: unique symbol = Symbol.for('holdpoint.delegating');

/** Reads the delegation of a tool's calls; `undefined` for a tool that is executed. */
export function readDelegation(tool: Tool): Delegation | undefined {
  const value: unknown = Reflect.get(tool, delegating);
  return isDelegation(value) ? value : undefined;
}

function isDelegation(value: unknown): value is Delegation {
  return typeof value === 'object' && value !== null && 'work' in value;
}

/** Finds the delegation of a call, by its tool's name. */
export function findDelegation(
  tools: ToolSet,
  { toolName }: Pick<ToolCall, 'toolName'>,
): Delegation | undefined {
  const tool = new Map(Object.entries(tools)).get(toolName);
  return tool && readDelegation(tool);
}

/** Commits input that may end delegated calls; see `Delegation.commitCancelled`. */
export function commitsCancelled(tools: ToolSet): Commit {
  const delegations = Object.values(tools).map(readDelegation);
  const found = delegations.find((delegation) => delegation !== undefined);
  if (found !== undefined) return async (...input) => found.commitCancelled(tools, ...input);
  return (log, decide, commit = (each) => log.commit(each)) => commit(decide);
}

/** A call, as it is passed to its delegation. */
export function makeDelegatedCall(
  threadId: string,
  { toolCallId, toolName, input, idempotencyKey = toolCallId, expiresAt }: ToolCallRecord,
): DelegatedCall {
  const call = { threadId, toolCallId, toolName, idempotencyKey, expiresAt };
  return { ...call, input: structuredClone(input) };
}

/** The open requests that a thread shows for a delegated call. */
export function readShownRequests(
  head: Pick<ThreadHead, 'openRequests'>,
  { step, index }: CallPlace,
): ShownRequests {
  const place = { step, index };
  return { place, requests: listAskedDuring(head, place).map(({ request }) => request) };
}

/**
 * The delegated call during which a sub-agent asks a mirrored request, and its delegation; `undefined` for a request of the agent's own.
 */
export function findAskingDelegation(
  tools: ToolSet,
  { threadId, head }: { threadId: string; head: Pick<ThreadHead, 'calls'> },
  { request, beside }: OpenRequest,
): MirroredCall | undefined {
  const call = request.path && callAt(head, beside);
  const delegation = call && findDelegation(tools, call);
  return delegation && beside && { delegation, call: makeDelegatedCall(threadId, call), beside };
}
