import type { Tool } from 'ai';
import { z } from 'zod';
import {
  makeChoice,
  type QuestionField,
  type QuestionRequestContent,
  type QuestionResponseContent,
} from '../content/question.ts';
import { interactionIdOf, toInteractionResponse } from './interaction.ts';
import {
  makeNonBlankText,
  type Question,
  type QuestionResult,
  questionTool,
} from './question-tool.ts';

/** Options that an app adds to the interactions of a tool. The model sees none of them. */
export interface InteractionOptions {
  /** The id of the preselected option. A preselection is not an answer. */
  defaultOptionId?: string;
  /** The time in which the question can be answered, in milliseconds. Default: no limit. */
  timeoutMs?: number;
  /** Correlates the questions of a longer flow. */
  continuationId?: string;
  /** The node of a graph that asks. */
  sourceNode?: string;
  /** More JSON for the front end. The other options and `target_tool` overwrite keys with their names. */
  metadata?: Record<string, unknown>;
}

const confirmationSchema = z.object({
  question: makeNonBlankText('What the user is asked to approve; not blank.'),
  target_tool: z
    .string()
    .optional()
    .describe(
      'The name of the tool that will be called if the user approves; for information only.',
    ),
});
const optionSchema = z.object({
  id: makeNonBlankText('A stable name for the option, which the answer will carry; not blank.'),
  label: makeNonBlankText('What its button says; not blank.'),
  description: z.string().optional().describe('What it means, shown below the button.'),
});
const questionSchema = z.object({
  question: makeNonBlankText('What the user is asked; not blank.'),
  options: z.array(optionSchema).optional().meta({
    description: 'Suggestions that can be clicked. No two have the same id.',
    uniqueItems: true,
  }),
});

/* These labels are part of the wire format; the dash is U+2014. */
const confirmationOptions = [
  { id: 'yes', label: 'Yes' },
  { id: 'no', label: 'No' },
  { id: 'no_with_feedback', label: 'No \u2014 tell me what to change' },
];

/** Both interaction tools under their usual names. */
export function interactionTools(options: InteractionOptions = {}): {
  /** The tool of `askConfirmation`. */
  ask_confirmation: Tool;
  /** The tool of `askQuestion`. */
  ask_question: Tool;
} {
  return { ask_confirmation: askConfirmation(options), ask_question: askQuestion(options) };
}

/**
 * `ask_confirmation`: yes, no, or no with changes to make. It relies on the model to ask and does not block calls: use `toolApproval` for
 * calls that must not run without an approval.
 */
export function askConfirmation(options: InteractionOptions = {}): Tool {
  return questionTool({
    description:
      'Use this to ask for a yes or no to something that you are about to do. Mandatory safety gate: you must call this before any operation that creates, updates, deletes or deploys something, and ' +
      'continue only if the user says yes. Say exactly what will be done. End your turn after this call, and make no other call with it.',
    inputSchema: confirmationSchema,
    toQuestion: ({ question, target_tool }): Question => {
      const target = target_tool === undefined ? {} : { target_tool };
      const asked = { kind: 'confirmation', text: question, choices: confirmationOptions } as const;
      return makeInteraction(asked, options, target);
    },
    toResult: makeInteractionResult,
  });
}

/** `ask_question`: an open question, with or without suggested options. The user can always type an answer. */
export function askQuestion(options: InteractionOptions = {}): Tool {
  return questionTool({
    description:
      'Use this to ask one thing that only the user knows and may have to type. You may suggest options; the user can always ' +
      'type another answer or dismiss the question. End your turn after this call.',
    inputSchema: questionSchema,
    toQuestion: ({ question: text, options: choices = [] }): Question =>
      makeInteraction({ kind: 'question', text, choices }, options),
    toResult: makeInteractionResult,
  });
}

/* The user can always type and always dismiss; the model can't restrict that. */
function makeInteraction(
  { choices, ...asked }: Pick<Question, 'kind' | 'text'> & { choices: QuestionField['options'] },
  { defaultOptionId, timeoutMs, continuationId, sourceNode, metadata: added }: InteractionOptions,
  own: Record<string, unknown> = {},
): Question {
  const preselected = choices.filter(({ id }) => id === defaultOptionId).map(({ id }) => id);
  const metadata = {
    ...added,
    ...own,
    ...(continuationId === undefined ? {} : { continuation_id: continuationId }),
    ...(sourceNode === undefined ? {} : { source_node: sourceNode }),
    ...(timeoutMs === undefined ? {} : { timeout_ms: timeoutMs }),
  };
  return {
    ...makeChoice({
      ...asked,
      key: 'answer',
      options: choices,
      ...(preselected.length === 0 ? {} : { preselected }),
      freeText: choices.length === 0 ? 'only' : 'optional',
    }),
    ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
    ...(timeoutMs === undefined ? {} : { expiresAfterMs: timeoutMs }),
  };
}

/* The call's result only says that the user was asked; the answer follows as a message of the user. */
function makeInteractionResult(
  response: QuestionResponseContent,
  request: QuestionRequestContent,
): QuestionResult {
  const answer = { interaction_response: toInteractionResponse(request, response) };
  return {
    status: 'succeeded',
    output: { status: 'interaction_pending', interaction_id: interactionIdOf(request) },
    message: { role: 'user', content: [{ type: 'text', text: JSON.stringify(answer) }] },
  };
}
