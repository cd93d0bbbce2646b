import type { InferToolInput, Tool, ToolSet } from 'ai';
import type { FieldOf, UserApproval } from './user-approval.ts';

/* TypeScript looks for unknown names in an object literal, but not in what a function returns. */

/**
 * The `toolApproval` of an agent with these `TOOLS`, as the compiler has inferred it (`RULES`): a rule that names an unknown tool, setting or
 * field of the input is a type error, also in what a function returns, and so is a function that returns nothing. What has no literal type, such as a `string[]`, is left to the check
 * when the agent is created.
 */
export type CheckedRules<TOOLS extends ToolSet, RULES> = { toolApproval?: RULES } & (RULES extends (
  ...input: never
) => infer STATUS
  ? RefuseAll<MistakesOf<Awaited<STATUS>, string>>
  : RULES extends string
    ? RefuseAll<RULES>
    : RefuseEach<{ [NAME in keyof RULES]-?: MistakesOfRule<TOOLS, RULES, NAME> }>);

/** What the rule has instead of a type where it is mistaken: the error of the compiler quotes it. */
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

/** What a rule returns, or is; of each member of a union. */
type StatusOf<RULE> = RULE extends (...input: never) => infer STATUS ? Awaited<STATUS> : RULE;

type InputOf<TOOL> = TOOL extends Tool ? InferToolInput<TOOL> : never;

/** What is wrong with what a rule returns, or is; nothing is known of `any`. A function that only throws returns `never`. */
type MistakesOf<STATUS, FIELD> = 0 extends 1 & STATUS
  ? never
  : [STATUS] extends [undefined]
    ? never
    : [STATUS] extends [void]
      ? 'what it returns: a `return` is missing'
      : MistakesOfStatus<STATUS, FIELD>;

/** The settings that a status does not have, and the fields that it names and the input does not have. */
type MistakesOfStatus<STATUS, FIELD> = STATUS extends { type: infer TYPE }
  ? 'user-approval' extends TYPE
    ?
        | Exclude<GivenName<STATUS>, keyof UserApproval>
        | WrongValues<STATUS>
        | UnknownNames<STATUS, 'remember', 'scope' | 'match' | 'expiresAfterMs' | 'uses'>
        | UnknownNames<STATUS, 'onExpiry', 'type' | 'reason' | 'approvers' | 'expiresAfterMs'>
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
