import { z } from 'zod';
import { rememberSchema } from './approval-terms.ts';
import { patchSchema } from './tool-call.ts';

const by = { principal: z.unknown().optional(), channel: z.string().optional() };

/** An approval that waits for those of other people. */
export const voteSchema = z.strictObject({
  /** Who approved, as text; each person has one vote. */
  person: z.string(),
  /** The person who asked this one to answer instead. The vote is theirs. */
  onBehalfOf: z.string().optional(),
  ...by,
  reason: z.string().optional(),
  remember: rememberSchema.optional(),
  /** When, in milliseconds since 1970. */
  at: z.number(),
});

/** An approval that waits for those of other people. */
export type Vote = z.infer<typeof voteSchema>;

/** Who votes: a person, for themselves or for the one who asked them to. */
export interface Voter {
  person?: string | undefined;
  onBehalfOf?: string | undefined;
}

/** The votes of other people than the voter: of those who neither are one of the two people in question nor voted for one of them. */
export function votesOfOthers(votes: readonly Vote[], voter: Voter): Vote[] {
  const people = new Set([voter.person, voter.onBehalfOf ?? voter.person]);
  return votes.filter(
    ({ person, onBehalfOf = person }) => !people.has(person) && !people.has(onBehalfOf),
  );
}

/** That a person asked somebody else to answer a request instead: a name, role or team. */
export const reassignmentSchema = z.strictObject({ from: z.string(), to: z.string(), ...by });

/** A person's change of a call's input. The request shows the call as it will run, and this what was changed. */
export const requestEditSchema = z.strictObject({
  /** What the request showed before anybody edited it. */
  original: z.strictObject({ input: z.unknown(), text: z.string(), digest: z.string() }),
  /** What was changed, in the original input. */
  patches: z.array(patchSchema).min(1),
  person: z.string().optional(),
  /** The person who had asked the editor to answer instead. */
  onBehalfOf: z.string().optional(),
  ...by,
  at: z.number(),
});
