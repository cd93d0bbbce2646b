import { z } from 'zod';
import { type Remember, rememberSchema } from './approval-terms.ts';
import { type Patch, patchSchema } from './tool-call.ts';

/** The person who acted, as far as the app said. */
interface By {
  /** The person, as authenticated by the app. */
  principal?: unknown;
  /** The channel that they used. */
  channel?: string | undefined;
}

/** An approval that waits for those of other people. */
export interface Vote extends By {
  /** The person who approved, as text; each person has one vote. */
  person: string;
  /** The person who asked this one to answer instead. The vote is theirs. */
  onBehalfOf?: string | undefined;
  /** The reason of the approval. */
  reason?: string | undefined;
  /** The standing approval that they asked for. */
  remember?: Remember | undefined;
  /** The time, in milliseconds since 1970. */
  at: number;
}

/** The reassignment of a request to others, who answer instead: a name, role or team. */
export interface RequestReassignment extends By {
  /** The person who asked, as text. */
  from: string;
  /** The new approver: a name, role or team. */
  to: string;
}

/** A person's change of a call's input. The request shows the call as it will run; this shows the changes. */
export interface RequestEdit extends By {
  /** The request before anybody edited it. */
  original: {
    /** The input that the model asked for. */
    input: unknown;
    /** The question about it. */
    text: string;
    /** The digest of the request about it. */
    digest: string;
  };
  /** The changes in the original input. */
  patches: Patch[];
  /** The person who edited, as text. */
  person?: string | undefined;
  /** The person who had asked the editor to answer instead. */
  onBehalfOf?: string | undefined;
  /** The time, in milliseconds since 1970. */
  at: number;
}

const by = { principal: z.unknown().optional(), channel: z.string().optional() };

/** The schema of `Vote`. */
export const voteSchema = z.strictObject({
  person: z.string(),
  onBehalfOf: z.string().optional(),
  ...by,
  reason: z.string().optional(),
  remember: rememberSchema.optional(),
  at: z.number(),
});

/** The schema of `RequestReassignment`. */
export const reassignmentSchema = z.strictObject({ from: z.string(), to: z.string(), ...by });

/** The schema of `RequestEdit`. */
export const requestEditSchema = z.strictObject({
  original: z.strictObject({ input: z.unknown(), text: z.string(), digest: z.string() }),
  patches: z.array(patchSchema).min(1),
  person: z.string().optional(),
  onBehalfOf: z.string().optional(),
  ...by,
  at: z.number(),
});

/** The voter: a person, for themselves or for the one who asked them to. */
export interface Voter {
  person?: string | undefined;
  onBehalfOf?: string | undefined;
}

/** The right in which a person answers: their own, or that of a person who asked them to answer instead. */
export type Right = { of: 'self' } | { of: 'reassigned'; from: string };

/** The right in which a vote was given. */
export function readRight({ onBehalfOf }: Voter): Right {
  return onBehalfOf === undefined ? { of: 'self' } : { of: 'reassigned', from: onBehalfOf };
}

/**
 * Lists the votes of others than the voter: of people who are not the voter or the person they vote for, and did not vote for one of them.
 */
export function votesOfOthers(votes: readonly Vote[], voter: Voter): Vote[] {
  const people = new Set([voter.person, voter.onBehalfOf ?? voter.person]);
  return votes.filter(
    ({ person, onBehalfOf = person }) => !people.has(person) && !people.has(onBehalfOf),
  );
}
