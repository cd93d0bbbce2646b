import { type Requested, listRequesters } from '../content/requesters.ts';
import { isSamePrincipal, type PrincipalId } from './same-person.ts';

/** Who caused a run. */
export interface RunCause {
  /** Without a principal where nobody is known, as in a worker. */
  by: { principal?: unknown; channel?: string };
  /** For a sub-agent's run: whether its parent's run has its context, of which the app has made that of this run. */
  parentHasContext?: boolean;
}

/** A run, and what the app gave to it. */
export interface CausedRun {
  cause: RunCause;
  options: { runtimeContext?: unknown };
}

/** The `runtimeContext` of a run, as its rules, its steps and its sub-agents get it. */
export interface RunContext {
  /** `undefined` if the run has none. */
  given: unknown;
  /** Whether it belongs to everybody for whom the run works. If not, nothing may run because of what it lacks. */
  isWhole: boolean;
}

/** The context of a run that has none, as in a worker. */
export const noContext: RunContext = { given: undefined, isWhole: false };

/** Whether somebody caused a run who is, strictly, everybody for whom it works; or nobody is named at all. */
export function isCausedByRequesters(
  { by: { principal = null } }: RunCause,
  requested: Requested,
  principalId: PrincipalId,
): boolean {
  return listRequesters(requested).every((each) => isSamePrincipal(each, principal, principalId));
}

/** The context of a run: none if somebody else continues the turn, whose role is not that of the requesters. */
export function chooseRunContext(
  { cause, options: { runtimeContext: given } }: CausedRun,
  requested: Requested,
  principalId: PrincipalId,
): RunContext {
  const { parentHasContext } = cause;
  if (given === undefined) return noContext;
  if (parentHasContext !== undefined) return { given, isWhole: parentHasContext };
  return isCausedByRequesters(cause, requested, principalId) ? { given, isWhole: true } : noContext;
}
