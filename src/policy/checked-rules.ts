import type { ToolSet } from 'ai';
import type { InputOf } from '../content/tool-call.ts';
import type { DeadlineAction } from '../content/deadline-action.ts';
import type { FieldOf, UserApproval } from './user-approval.ts';
import type { NamesOf } from './watched-reads.ts';

/* TypeScript checks an object literal for unknown names, but not the result of a function. */

/**
 * Must be the first part of the type of the options: the compiler quotes the first one that does not fit, and the others are long.
 *
 * The `toolApproval` of an agent with these `TOOLS`, as the compiler has inferred it (`RULES`): a rule that names an unknown tool, setting
 * or field of the input is a type error, also in what a function returns, and so is a function that returns nothing. A value without a
 * literal type, such as a `string[]`, is left to the check when the agent is created.
 */
export type CheckedRules<TOOLS extends ToolSet, RULES> = { toolApproval?: RULES } & (RULES extends (
  ...input: never
) => infer STATUS
  ? RefuseAll<MistakesOf<Awaited<STATUS>, string>>
  : RULES extends string
    ? RefuseAll<RULES>
    : RefuseEach<{ [NAME in keyof RULES]-?: MistakesOfRule<TOOLS, RULES, NAME> }>);

/** The type of a mistaken rule: the compiler's error quotes it. */
interface Mistaken<NAMES> {
  'The rule is wrong about': NAMES;
}

type RefuseAll<NAMES> = [NAMES] extends [never] ? unknown : { toolApproval?: Mistaken<NAMES> };

type RefuseEach<MISTAKES> = [MISTAKES[keyof MISTAKES]] extends [never]
  ? unknown
  : {
      toolApproval?: {
        [NAME in keyof MISTAKES as [MISTAKES[NAME]] extends [never] ? never : NAME]: Mistaken<
          MISTAKES[NAME]
        >;
      };
    };

type MistakesOfRule<TOOLS extends ToolSet, RULES, NAME extends keyof RULES> = string extends NAME
  ? never
  : NAME extends keyof TOOLS
    ? MistakesOf<StatusOf<RULES[NAME]>, FieldOf<InputOf<TOOLS[NAME]>>>
    : NAME;

/** The status that a rule returns, or is; of each member of a union. */
type StatusOf<RULE> = RULE extends (...input: never) => infer STATUS ? Awaited<STATUS> : RULE;

/** The mistakes in a rule, or in its result; nothing is known of `any`. A function that only throws returns `never`. */
type MistakesOf<STATUS, FIELD> = 0 extends 1 & STATUS
  ? never
  : [STATUS] extends [undefined]
    ? never
    : [STATUS] extends [void]
      ? 'what it returns: a `return` is missing'
      : MistakesOfStatus<STATUS, FIELD>;

/* TypeScript has made a text of the literal type of a rule in a `const`. */
type Widened =
  'its type, which may be any text: write `satisfies ToolApprovalStatus` after the rule';

/** The settings that a status does not have, and the fields that it names and the input does not have. */
type MistakesOfStatus<STATUS, FIELD> = string extends STATUS
  ? Widened
  : STATUS extends { type: infer TYPE }
    ? string extends TYPE
      ? Widened
      : 'user-approval' extends TYPE
        ?
            | Exclude<GivenName<STATUS>, keyof UserApproval>
            | WrongValues<STATUS>
            | UnknownNames<STATUS, 'remember', 'scope' | 'match' | 'expiresAfterMs' | 'uses'>
            | UnknownNames<STATUS, 'onExpiry', NamesOf<DeadlineAction>>
            | UnknownFields<STATUS, 'editable', FIELD>
            | (STATUS extends { remember: infer REMEMBER }
                ? UnknownFields<REMEMBER, 'match', FIELD>
                : never)
        : Exclude<GivenName<STATUS>, 'type' | 'reason'>
    : never;

/* Where a function returns several literals, TypeScript gives each the names of the others, with the type `undefined`. */
type GivenName<VALUE> = {
  [NAME in keyof VALUE]-?: VALUE[NAME] extends undefined ? never : NAME;
}[keyof VALUE];

/* The AI SDK's own status has no such settings, and so takes any value for them. A text without a literal type may be right. */
type WrongValues<STATUS> = {
  [NAME in Exclude<keyof STATUS & keyof UserApproval, 'metadata'>]-?: STATUS[NAME] extends
    | UserApproval[NAME]
    | undefined
    ? never
    : string extends STATUS[NAME]
      ? never
      : NAME;
}[Exclude<keyof STATUS & keyof UserApproval, 'metadata'>];

/** The names in an object setting that it does not have. */
type UnknownNames<STATUS, SETTING extends string, KNOWN> =
  STATUS extends Record<SETTING, infer VALUE>
    ? VALUE extends object
      ? Exclude<GivenName<VALUE>, KNOWN>
      : never
    : never;

/** The fields in a list that the input does not have. A list without literal types may hold any. */
type UnknownFields<STATUS, SETTING extends string, FIELD> =
  STATUS extends Record<SETTING, infer NAMES>
    ? NAMES extends readonly (infer NAME)[]
      ? string extends NAME
        ? never
        : Exclude<NAME, FIELD>
      : never
    : never;
