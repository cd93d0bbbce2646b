import type { UserInputResponseContent } from '../../content/user-input.ts';
import type { CheckedAnswers, MirroredCall, Reporting } from '../calls/delegation.ts';
import type { AskedEndings } from './asked-endings.ts';
import type { Refusals } from './refused-answers.ts';
import type { ParsedInput } from './parse-input.ts';
import type { WeighedAnswer } from './weigh-answer.ts';

/** An input about which the app was asked who may: what deciding needs besides the thread. */
export interface AdmittedInput {
  parsed: ParsedInput;
  /** The answers to requests that were open then, by request; absent where nobody had to be asked. */
  answers?: ReadonlyMap<string, AdmittedAnswer>;
  /** Why answers are refused, which are then refused together; absent where none is. */
  refusals?: Refusals;
  /** The requests that the input ends; absent where it ends none. */
  endings?: AskedEndings;
  /** The requests whose recorded approvals an answer that ends the turn takes back, as the sender may reject them. The others are held. */
  interrupted?: ReadonlySet<string>;
  /** The requests whose approvals, which a stop holds, the sender releases; absent where they release none. */
  released?: Released | undefined;
  /** What the sub-agents have recorded about the answers to their requests. */
  reported?: Reporting;
}

/** Requests whose approvals are released; those of sub-agents with the calls on which they work. */
export type Released = ReadonlyMap<string, MirroredCall | undefined>;

/** An answer about which the app was asked. */
export type AdmittedAnswer =
  /** It counts as it is. */
  | { as: 'plain'; response: UserInputResponseContent }
  /** It counts beside others, or says more than yes or no. */
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
