import type { QuestionRequestContent } from 'holdpoint';
import {
  askConfirmation,
  askQuestion,
  interactionIdOf,
  type InteractionRequest,
} from 'holdpoint/tools';
import { z } from 'zod';
import { askOne, overTheWire } from './asked.ts';

type InteractionOptions = Parameters<typeof askQuestion>[0];

/** The example call of ask_confirmation. */
export const deploy = {
  question: "Deploy agent 'weather-bot' to production?",
  target_tool: 'deploy_agent',
};

/** The example call of ask_question. */
export const source = {
  question: 'Which data source should I connect to?',
  options: [
    { id: 'postgres', label: 'PostgreSQL' },
    { id: 'bigquery', label: 'BigQuery', description: 'Google Cloud warehouse' },
  ],
};

/** The first example as front ends are shown it, but for its id. */
export const confirmation: Omit<InteractionRequest, 'interaction_id'> = {
  kind: 'Confirmation',
  question: deploy.question,
  options: [
    { id: 'yes', label: 'Yes' },
    { id: 'no', label: 'No' },
    { id: 'no_with_feedback', label: 'No \u2014 tell me what to change' },
  ],
  allow_free_text: true,
  allow_cancel: true,
  metadata: { target_tool: 'deploy_agent' },
};

/** A thread that waits for the confirmation of the example. */
export const confirm = async (options: InteractionOptions = {}) =>
  askOne(askConfirmation(options), deploy);

/** A thread that waits for the answer to a question, by default that of the example. */
export const question = async (input: object = source, options: InteractionOptions = {}) =>
  askOne(askQuestion(options), input);

/** A response as it comes from a front end. */
export function wire(request: QuestionRequestContent, rest: object) {
  return overTheWire({ interaction_id: interactionIdOf(request), ...rest });
}

/** The response that the model reads in a message. */
export function toldToModel(content: unknown): unknown {
  const [part] = Array.isArray(content) ? content : [];
  const { text: said } = z.object({ text: z.string() }).parse(part);
  return Reflect.get(JSON.parse(said), 'interaction_response');
}
