import {
  convertToModelMessages,
  type ModelMessage,
  safeValidateUIMessages,
  type UIMessage,
} from 'ai';
import { z } from 'zod';
import type { QuestionRequestContent, QuestionResponseContent } from '../../content/question.ts';
import { HoldpointError } from '../../errors.ts';
import type { AgentThread } from '../../thread/agent-thread.ts';
import { withMessageId } from '../../thread/app-messages.ts';
import { fromInteractionResponse, interactionIdOf } from '../../tools/interaction.ts';
import { checkedAttachment } from './attachment.ts';
import { type RecordedMessage, type SaidBefore, saidBefore } from './said-before.ts';

/** Makes text or a file for the model of a data part that a user sent; the AI SDK's option of this name. */
export type ConvertDataPart = NonNullable<
  NonNullable<Parameters<typeof convertToModelMessages<UIMessage>>[1]>['convertDataPart']
>;

type UIPart = UIMessage['parts'][number];

/** What a user's message brings: itself, for the model, if it is new or edited, or the answers that it holds. */
export type UserInput =
  | { type: 'message'; message: ModelMessage; replaces?: RecordedMessage[] }
  | (Extract<SaidBefore, { type: 'said-before' }> & { message: ModelMessage })
  | { type: 'answers'; answers: QuestionResponseContent[] };

/** What a user's message brings. Throws `invalid-input` for what is no user's message. */
export async function userInput(
  message: unknown,
  thread: AgentThread,
  convertDataPart: ConvertDataPart | undefined,
): Promise<UserInput> {
  const { id, parts } = await validMessage(message);
  const responses = parts.filter(isInteractionResponse);
  if (responses.length === 0) return spoken(id, await modelMessage(parts, convertDataPart), thread);
  if (responses.length < parts.length) {
    throw new HoldpointError(
      'invalid-input',
      'A message with an interaction_response holds nothing else: say the rest in a message of its own.',
    );
  }
  const questions = questionsOf(thread);
  const answers = responses.map((part) =>
    interactionAnswer('data' in part ? part.data : undefined, questions),
  );
  return { type: 'answers', answers };
}

function spoken(id: string, words: ModelMessage, thread: AgentThread): UserInput {
  const message = id === '' ? words : withMessageId(words, id);
  const said = saidBefore(thread, id, words);
  switch (said.type) {
    case 'new':
      return { type: 'message', message };
    case 'edit':
      return { type: 'message', message, replaces: said.replaces };
    case 'said-before':
      return { ...said, message };
  }
}

async function validMessage(message: unknown): Promise<UIMessage> {
  const validated = await safeValidateUIMessages({ messages: [message] });
  const [valid] = validated.success ? validated.data : [];
  if (valid?.role === 'user' && valid.id.length <= 256 && valid.id.isWellFormed()) return valid;
  throw new HoldpointError('invalid-input', 'This is no user message of the AI SDK.');
}

async function modelMessage(
  parts: readonly UIPart[],
  convertDataPart: ConvertDataPart | undefined,
): Promise<ModelMessage> {
  const options = convertDataPart === undefined ? {} : { convertDataPart };
  const user = { role: 'user' as const, parts: takenParts(parts) };
  const [message = { role: 'user', content: [] }] = await convertToModelMessages([user], options);
  return message;
}

function isInteractionResponse({ type }: UIPart): boolean {
  return type === 'data-interaction_response' || type === 'data-interactionResponse';
}

/* A page says what, not how: what is meant for a provider, or names its files, is not taken from it. */
function takenParts(parts: readonly UIPart[]): UIPart[] {
  let files = 0;
  return parts.flatMap((part): UIPart[] => {
    if (part.type === 'text') return [{ type: 'text', text: part.text }];
    if (part.type !== 'file') return 'data' in part ? [part] : [];
    files += 1;
    return [checkedAttachment(part, files)];
  });
}

/* Also those that are answered by now: the same answer again is harmless, and another is refused as such. */
function questionsOf({ events }: AgentThread): QuestionRequestContent[] {
  return events
    .filter((event) => event.type === 'request-opened')
    .map(({ request }) => request)
    .filter((request) => request.type === 'question-request');
}

const namedSchema = z.looseObject({
  interaction_id: z.string().optional(),
  interactionId: z.string().optional(),
});

function interactionAnswer(
  response: unknown,
  questions: readonly QuestionRequestContent[],
): QuestionResponseContent {
  const { interaction_id: snake, interactionId: camel } =
    namedSchema.safeParse(response).data ?? {};
  const id = snake ?? camel;
  const request = questions.find(
    (question) => question.requestId === id || interactionIdOf(question) === id,
  );
  if (request !== undefined) return fromInteractionResponse(request, response);
  throw new HoldpointError(
    'unknown-request',
    `This thread has no question with the interaction_id ${JSON.stringify(id)}.`,
  );
}
