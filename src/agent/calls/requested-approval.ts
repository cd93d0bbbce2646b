import { z } from 'zod';
import {
  type Asked,
  parseDemands,
  type UserApproval,
  userApprovalSchema,
} from '../../policy/approval-rule.ts';

/** An approval that the app requests itself: what a rule may demand, except what is about calls. */
export interface RequestedApproval extends Omit<
  UserApproval,
  'type' | 'text' | 'editable' | 'remember'
> {
  /** The question for the person. */
  text: string;
  /** A second request with the same key returns the first one, or the one that follows it after its expiry. 1 to 256 characters. */
  key?: string | undefined;
}

/** The schema of `RequestedApproval` without its key. */
export const requestedApprovalSchema = userApprovalSchema
  .omit({ type: true, editable: true, remember: true })
  .extend({ text: z.string() });

/** What the app requests, with its defaults. */
export function parseRequestedApproval({
  text,
  ...requested
}: z.output<typeof requestedApprovalSchema>): Asked & { text: string } {
  return { ...parseDemands({ type: 'user-approval', ...requested }), text };
}
