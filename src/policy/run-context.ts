import { type Requested, listRequesters } from '../content/requesters.ts';
import { isSamePrincipal, type PrincipalId } from './same-person.ts';

/** The cause of a run. */
export interface RunCause {
  /** The person and channel; no principal if the person is unknown, as in a worker. */
  by: { principal?: unknown; channel?: string };
  /** Set for a sub-agent's run: whether the parent's run has its context, from which the app has made this run's. */
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
  /** True if it belongs to everybody for whom the run works. If not, missing values must not let anything run. */
  isWhole: boolean;
}

/** The context of a run that has none, as in a worker. */
export const noContext: RunContext = { given: undefined, isWhole: false };

/** Checks whether the person who caused a run is, strictly, the only one for whom it works; true too if nobody is named at all. */
export function isCausedByRequesters(
  { by: { principal = null } }: RunCause,
  requested: Requested,
  principalId: PrincipalId,
): boolean {
  return listRequesters(requested).every((each) => isSamePrincipal(each, principal, principalId));
}

/** Chooses the context of a run: none if another person continues the turn, as their role is not that of the requesters. */
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
