import type { ApprovalRequest, ApprovalResponseContent } from '../../content/approval.ts';
import type { Grant, StandingAnswer } from '../../content/grant.ts';
import type { ToolCall } from '../../content/tool-call.ts';
import { HoldpointError } from '../../errors.ts';
import type { Asked } from '../../policy/approval-rule.ts';
import type { PrincipalId } from '../../policy/principal-id.ts';
import type { ThreadState } from '../../thread/thread-state.ts';
import type { ThreadStoreGrants } from '../../thread/thread-store.ts';
import type { ToolDefinition } from './tool-definitions.ts';

/** A standing approval for a call, and how many more calls it decides: any number if `usesLeft` is absent. */
export interface GrantUse {
  grant: Grant;
  usesLeft?: number | undefined;
}

/** Finds the standing approval for a call that a rule wants a person to approve; or why one that was found does not decide any more. */
export type FindGrant = (
  asked: Asked,
  about: GrantAbout,
) => Promise<GrantUse | { why: string } | undefined>;

/** The call for which a standing approval is needed. */
export interface GrantAbout {
  definition: ToolDefinition;
  toolCall: ToolCall;
  /** Makes the request as a person would be asked now. */
  request: () => Promise<ApprovalRequest>;
}

/** The answers behind a standing approval, and a request to which they would have to be given now. */
interface StandingAnswers {
  request: ApprovalRequest;
  answers: readonly StandingAnswer[];
  response: Omit<ApprovalResponseContent, 'reason'>;
}

/** Whether everybody who gave these answers may still give them. */
export type MayStand = (standing: StandingAnswers) => Promise<boolean>;

/** The agent's part of finding a grant. */
export interface GrantSources {
  name: string | undefined;
  now: () => number;
  /** The store's grants that are wider than a thread. */
  grants: ThreadStoreGrants | undefined;
  principalId: PrincipalId;
  /** Asked about the answers behind a standing approval that is to decide; absent if anybody may answer, here and in the threads above. */
  mayStand?: MayStand | undefined;
}

/** Searches only where the rule allows one: for most calls this costs nothing. */
export function grantFinder(sources: GrantSources, state: Readonly<ThreadState>): FindGrant {
  return async (asked, about) => {
    const { remember } = asked.terms ?? {};
    const isGranted = state.head.grants.length > 0 || remember?.scope !== 'thread';
    if (remember === undefined || !isGranted) return undefined;
    const { grantFor } = await import('./grant-for.ts');
    return grantFor(sources, state, { asked, ...about });
  };
}

/** Throws an error again, unless it says that a standing approval ended before its use was recorded. */
export function unlessGrantEnded(error: unknown): void {
  if (!HoldpointError.isInstance(error) || error.code !== 'grant-ended') throw error;
}
