import type { UserInputResponseContent } from '../../content/user-input.ts';
import type { CheckedAnswers, MirroredCall, Reporting } from '../calls/delegation.ts';
import type { AskedEndings } from './asked-endings.ts';
import type { Refusals } from './collect-refusals.ts';
import type { ParsedInput } from './parse-input.ts';
import type { WeighedAnswer } from './weigh-answer.ts';

/** An input whose permissions were checked with the app: what its decision needs in addition to the thread. */
export interface AdmittedInput {
  parsed: ParsedInput;
  /** The answers to requests that were open then, by request; absent where no permission was needed. */
  answers?: ReadonlyMap<string, AdmittedAnswer>;
  /** The refusals of answers, which are then refused together; absent if there are none. */
  refusals?: Refusals;
  /** The requests that the input ends; absent where it ends none. */
  endings?: AskedEndings;
  /** The requests whose recorded approvals an answer that ends the turn takes back, as the sender may reject them. The others are held. */
  interrupted?: ReadonlySet<string>;
  /** The requests whose approvals, which a stop holds, the sender releases; absent where they release none. */
  released?: Released | undefined;
  /** The sub-agents' records of the answers to their requests. */
  reported?: Reporting;
}

/** Requests whose approvals are released; those of sub-agents with the calls on which they work. */
export type Released = ReadonlyMap<string, MirroredCall | undefined>;

/** An answer about which the app was asked. */
export type AdmittedAnswer =
  /** An answer that counts as it is. */
  | { as: 'plain'; response: UserInputResponseContent }
  /** An answer that counts with others, or says more than yes or no. */
  | { as: 'weighed'; weighed: WeighedAnswer }
  /** A sub-agent has checked it, and counts it. */
  | { as: 'passed'; below: PassedDown };

/** An answer that a sub-agent has checked. */
export interface PassedDown extends MirroredCall, CheckedAnswers {}

/** The answers that sub-agents have checked. */
export function listPassedDown({ answers }: AdmittedInput): PassedDown[] {
  return [...(answers?.values() ?? [])].flatMap((each) =>
    each.as === 'passed' ? [each.below] : [],
  );
}
