import type { FlexibleSchema, ToolSet } from 'ai';
import { requireFunctions } from '../../content/check-settings.ts';
import type { ToolCall } from '../../content/tool-call.ts';
import type { CheckedRules } from '../../policy/checked-rules.ts';
import type { SharedAgentOptions } from '../agent-options.ts';
import type { Agent } from '../agent.ts';
import { runsAtProvider } from '../calls/check-tools.ts';
import { refuseUnknownSettings, sharedSettings } from '../known-settings.ts';
import { makeAgent } from '../create-agent.ts';
import type { CustomStep, QuestionToAsk } from './custom-step.ts';
import {
  type CustomStepInput,
  makeCustomSteps,
  makeLateApprovalEvents,
} from './take-custom-step.ts';
import type { FieldSchema } from '../../json/field-schema.ts';
import type { QuestionOption } from '../../content/question.ts';
import type { RequestDecision } from '../../content/user-input.ts';
import type { Question } from '../calls/question-call.ts';

/** The options of `createCustomAgent`: the function that takes a step, and those of `createAgent` that don't concern a model. */
export interface CustomAgentOptions<
  PROGRESS = unknown,
  TOOLS extends ToolSet = ToolSet,
  RUNTIME_CONTEXT = Record<string, unknown>,
> extends SharedAgentOptions<TOOLS, RUNTIME_CONTEXT> {
  /**
   * Takes one step: it gets the input, the saved progress, and the decisions of requests, and returns the reply, calls, requests and new
   * progress, which are recorded together. After a failure or a crash it is called again for the same step, so everything that must happen
   * at most once belongs in a tool call.
   */
  step(
    input: CustomStepInput<PROGRESS, ToolCall<TOOLS>, RUNTIME_CONTEXT>,
  ): CustomStep<PROGRESS, ToolCall<TOOLS>> | PromiseLike<CustomStep<PROGRESS, ToolCall<TOOLS>>>;
  /** The schema of `progress`, which types it and checks what was saved, perhaps by an older version of the app. */
  progressSchema?: FlexibleSchema<PROGRESS>;
}

const customSettings = {
  ...sharedSettings,
  step: true,
  progressSchema: true,
} satisfies Record<keyof CustomAgentOptions, true>;

/**
 * Creates a custom agent: one whose steps are a function of the app instead of a model. It has the same threads, runs, tools, requests
 * and answers as every agent, and works with the same stores, workers and channels.
 *
 * The function is called for each step. It can ask people, call tools, and save its progress; what it returns is recorded in one append.
 * The next step is taken when all requests of the step are decided and all its calls have ended, in any process.
 *
 * Throws a `TypeError` as `createAgent` does, and for a tool that runs at a provider. A run rejects with a `TypeError` if the function
 * returns something that can't be recorded.
 *
 * @example
 * const publisher = createCustomAgent({
 *   name: 'publisher',
 *   store,
 *   progressSchema: z.object({ draft: z.string() }),
 *   async step({ input, progress, decisions }) {
 *     if (progress === undefined) {
 *       const draft = await write(input);
 *       return { progress: { draft }, requests: { publish: { type: 'approval-request', text: `Publish "${draft}"?` } } };
 *     }
 *     const isApproved = decisions.get('publish')?.status === 'approved';
 *     return { text: isApproved ? `Published: ${progress.draft}` : 'Nothing was published.' };
 *   },
 * });
 */
export function createCustomAgent<
  PROGRESS = unknown,
  TOOLS extends ToolSet = ToolSet,
  RUNTIME_CONTEXT = Record<string, unknown>,
  const RULES = unknown,
>(
  options: CheckedRules<TOOLS, RULES> & CustomAgentOptions<PROGRESS, TOOLS, RUNTIME_CONTEXT>,
): Agent<RUNTIME_CONTEXT, ToolCall<TOOLS>>;
/* The types assume that progress and calls in the log fit them: `progressSchema` and the tools' schemas check that. */
export function createCustomAgent(
  options: CustomAgentOptions<unknown, ToolSet, unknown>,
): Agent<unknown> {
  refuseUnknownSettings('createCustomAgent', options, customSettings);
  const { progressSchema } = options;
  requireFunctions('createCustomAgent', options, ['step']);
  refuseProviderTools(options.tools ?? {});
  return makeAgent(options, (made) => ({
    modelName: undefined,
    makeStep: makeCustomSteps({
      ...made,
      agentName: options.name,
      step: async (input) => options.step(input),
      progressSchema,
    }),
    beforeStep: async (state) => makeLateApprovalEvents(made, state),
    hasModel: false,
    allowSystemInMessages: false,
  }));
}

/* Its calls would wait for results that are never delivered. */
function refuseProviderTools(tools: ToolSet): void {
  const found = Object.entries(tools).find(([, tool]) => runsAtProvider(tool));
  if (found === undefined) return;
  throw new TypeError(
    `Tool '${found[0]}' runs at a model's provider, and a custom agent has no model. Call the model in a step or in a tool instead.`,
  );
}

/** Settings of every question. */
interface QuestionSettings {
  /** True if the person may dismiss the question. Default `true`. */
  allowDismiss?: boolean;
  /** The time in which it can be answered, in milliseconds from now. Default: no limit. */
  expiresAfterMs?: number;
}

/** Settings of a choice. */
interface ChoiceSettings extends QuestionSettings {
  /** The minimum number of options to pick. Default 1. */
  min?: number;
  /** The maximum number of options to pick. Default 1; above 1, several may be picked. */
  max?: number;
  /** True if a text can be typed instead of the options, or with them. Default `false`. */
  allowText?: boolean;
  /** The ids of options that are selected when the question is first shown. They don't count as an answer. */
  preselected?: readonly string[];
}

/**
 * A question to be answered with yes or no. The answer is `yes` or `no`. It approves nothing: to ask for permission, use an
 * `approval-request`.
 */
export function confirmation(text: string, settings: QuestionSettings = {}): QuestionToAsk {
  const options = [
    { id: 'yes', label: 'Yes' },
    { id: 'no', label: 'No' },
  ];
  return { ...choice(text, options, settings), kind: 'confirmation' };
}

/**
 * A question with options to pick from, given as labels, or with an `id` and a `description`. The answers are the ids of the options that
 * were picked; the id of a label is the label.
 *
 * @example
 * return { requests: { tone: choice('Which tone?', ['Formal', 'Friendly']) } };
 * // and in the next step:
 * const [tone = 'Formal'] = answersOf(decisions.get('tone'));
 */
export function choice(
  text: string,
  options: readonly (string | QuestionOption)[],
  { min = 1, max = 1, allowText = false, preselected, ...settings }: ChoiceSettings = {},
): QuestionToAsk {
  return makeQuestionToAsk(text, settings, {
    options: options.map((option) =>
      typeof option === 'string' ? { id: option, label: option } : option,
    ),
    min,
    max,
    ...(preselected === undefined ? {} : { preselected: [...preselected] }),
    freeText: allowText ? 'optional' : 'never',
  });
}

/** Settings of a question to be answered with a text. */
interface TextSettings extends QuestionSettings {
  /** The schema of the text. Default: any text. */
  schema?: FieldSchema;
}

/**
 * A question to be answered with a text. The answer is the text.
 *
 * @example
 * return { requests: { seats: textQuestion('How many seats?', { schema: { type: 'integer', minimum: 1 } }) } };
 */
export function textQuestion(
  text: string,
  { schema, ...settings }: TextSettings = {},
): QuestionToAsk {
  return makeQuestionToAsk(text, settings, {
    options: [],
    min: 0,
    max: 0,
    freeText: 'only',
    ...(schema && { schema }),
  });
}

function makeQuestionToAsk(
  text: string,
  { allowDismiss = true, expiresAfterMs }: QuestionSettings,
  field: Omit<Question['fields'][number], 'key' | 'label'>,
): QuestionToAsk {
  return {
    type: 'question-request',
    kind: field.freeText === 'only' ? 'question' : 'choice',
    text,
    fields: [{ key: 'answer', label: text, ...field }],
    allowDismiss,
    ...(expiresAfterMs === undefined ? {} : { expiresAfterMs }),
  };
}

/**
 * The answers to a question, in the order of its fields: the ids of the options that were picked, and the text that was typed. Empty unless
 * the question was answered: also if it was dismissed, has expired, or was cancelled.
 */
export function answersOf(decision: RequestDecision | undefined): readonly string[] {
  const { status, response } = decision ?? {};
  if (status !== 'answered' || response?.type !== 'question-response') return [];
  if (response.status !== 'answered') return [];
  return response.answers.flatMap(({ optionIds, text }) => [
    ...optionIds,
    ...(text === undefined ? [] : [text]),
  ]);
}
