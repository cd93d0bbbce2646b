import type { Tool } from 'ai';
import { z } from 'zod';
import type { QuestionField, QuestionRequestContent } from '../content/question.ts';
import type { QuestionResponseContent } from '../content/question.ts';
import { textOf } from './input-text.ts';
import { interactionIdOf, toInteractionResponse } from './interaction.ts';
import { type Question, type QuestionResult, questionTool } from './question-tool.ts';

/** What an app adds to the interactions of a tool. None of it is known to the model. */
export interface InteractionOptions {
  /** The option that is marked when the question is shown. It is not an answer. */
  defaultOptionId?: string;
  /** How long it can be answered, in milliseconds. Default: for ever. */
  timeoutMs?: number;
  /** Correlates the steps of a longer flow. */
  continuationId?: string;
  /** The node of a graph that asks. */
  sourceNode?: string;
  /** More for the front end, as JSON. What is named otherwise here, and `target_tool`, is written over keys of those names. */
  metadata?: Record<string, unknown>;
}

const confirmationSchema = z.object({
  question: textOf('What the user is asked to approve; not blank.'),
  target_tool: z
    .string()
    .optional()
    .describe('The name of the tool that will be called if they approve; for information.'),
});
const optionSchema = z.object({
  id: textOf('A stable name for the option, which the answer will carry; not blank.'),
  label: textOf('What its button says; not blank.'),
  description: z.string().optional().describe('What it means, shown below the button.'),
});
const questionSchema = z.object({
  question: textOf('What the user is asked; not blank.'),
  options: z.array(optionSchema).optional().meta({
    description: 'Suggestions that can be clicked. No two have the same id.',
    uniqueItems: true,
  }),
});

/* These labels are part of the wire form; the dash is U+2014. */
const confirmationOptions = [
  { id: 'yes', label: 'Yes' },
  { id: 'no', label: 'No' },
  { id: 'no_with_feedback', label: 'No \u2014 tell me what to change' },
];

/** The two tools of interactions, under their names. */
export function interactionTools(options: InteractionOptions = {}): {
  ask_confirmation: Tool;
  ask_question: Tool;
} {
  return { ask_confirmation: askConfirmation(options), ask_question: askQuestion(options) };
}

/**
 * `ask_confirmation`: yes, no, or no with what to change. It is the model's courtesy and no gate: what must not run
 * without a person's word is held by `toolApproval`, whatever was answered here.
 */
export function askConfirmation(options: InteractionOptions = {}): Tool {
  return questionTool({
    description:
      'Use this for a yes or no to something that you are about to do. Mandatory safety gate: you must call this before any operation that creates, updates, deletes or deploys something, and ' +
      'go on only if the user says yes. Say exactly what will be done. End your turn after the call, with no other call beside it.',
    inputSchema: confirmationSchema,
    toQuestion: ({ question, target_tool }): Question => {
      const target = target_tool === undefined ? {} : { target_tool };
      return {
        kind: 'confirmation',
        ...asked({ question, choices: confirmationOptions, options, metadata: target }),
      };
    },
    toResult: interactionResult,
  });
}

/** `ask_question`: anything, with options to click or without. The user can always type. */
export function askQuestion(options: InteractionOptions = {}): Tool {
  return questionTool({
    description:
      'Use this to ask one thing that only the user can say, and may have to type. You may suggest options; they can always ' +
      'type an answer of their own, or leave the question. End your turn after the call.',
    inputSchema: questionSchema,
    toQuestion: ({ question, options: choices = [] }): Question => ({
      kind: 'question',
      ...asked({ question, choices, options, metadata: {} }),
    }),
    toResult: interactionResult,
  });
}

/* Who answers can always type, and always leave; the model can't say otherwise. */
function asked({
  question,
  choices,
  options: { defaultOptionId, timeoutMs, continuationId, sourceNode, metadata: added },
  metadata: own,
}: {
  question: string;
  choices: QuestionField['options'];
  options: InteractionOptions;
  metadata: Record<string, unknown>;
}): Omit<Question, 'kind'> {
  const preselected = choices.filter(({ id }) => id === defaultOptionId).map(({ id }) => id);
  const metadata = {
    ...added,
    ...own,
    ...(continuationId === undefined ? {} : { continuation_id: continuationId }),
    ...(sourceNode === undefined ? {} : { source_node: sourceNode }),
    ...(timeoutMs === undefined ? {} : { timeout_ms: timeoutMs }),
  };
  const field: QuestionField = {
    key: 'answer',
    label: question,
    options: choices,
    min: 1,
    max: 1,
    ...(preselected.length === 0 ? {} : { preselected }),
    freeText: choices.length === 0 ? 'only' : 'optional',
  };
  return {
    text: question,
    fields: [field],
    allowDismiss: true,
    ...(Object.keys(metadata).length === 0 ? {} : { metadata }),
    ...(timeoutMs === undefined ? {} : { expiresAfterMs: timeoutMs }),
  };
}

/* The call itself has no more to say than that somebody was asked; the answer stands in the history as the user's. */
function interactionResult(
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
