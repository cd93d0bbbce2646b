import {
  convertToModelMessages,
  type JSONValue,
  type ModelMessage,
  safeValidateUIMessages,
  type UIMessage,
  type FileUIPart,
} from 'ai';
import { jsonValueSchema } from '../../../content/tool-call.ts';
import { z } from 'zod';
import { parseBase64 } from '../../../json/base64.ts';
import { whyNotStrictJson } from '../../../json/strict-json.ts';
import { inertText } from '../../../content/inert-text.ts';
import type { QuestionRequestContent, QuestionResponseContent } from '../../../content/question.ts';
import { HoldpointError } from '../../../errors.ts';
import type { AgentThread } from '../../../thread/agent-thread.ts';
import {
  listImportedMessages,
  isAppMessage,
  readMessageId,
  findRetractedMessages,
  withMessageId,
  withMetadata,
} from '../../../thread/app-messages.ts';
import type { ThreadEvent } from '../../../thread/thread-event.ts';
import { fromInteractionResponse, hasInteractionId } from '../../../tools/interaction.ts';
import { makeImportedId, toUserUIMessage } from '../output/user-ui-message.ts';

/** Converts a data part of a user's message into text or a file for the model; the AI SDK's option of this name. */
export type ConvertDataPart = NonNullable<
  NonNullable<Parameters<typeof convertToModelMessages<UIMessage>>[1]>['convertDataPart']
>;

type UIPart = UIMessage['parts'][number];

/** The content of a page's user message: a new or edited message for the model, a recorded message, or answers. */
export type UserMessage =
  | { type: 'message'; message: ModelMessage; replaces?: number }
  | Extract<MessageState, { type: 'recorded' }>
  | { type: 'answers'; answers: QuestionResponseContent[] };

/** Reads a page's user message. Throws `invalid-input` if it is not a valid user message of the AI SDK. */
export async function parseUserMessage(
  message: unknown,
  thread: AgentThread,
  convertDataPart: ConvertDataPart | undefined,
): Promise<UserMessage> {
  const valid = await validateMessage(message);
  const { parts } = valid;
  const responses = parts.filter(isInteractionResponse);
  if (responses.length === 0) {
    return withState(valid, await toModelMessage(parts, convertDataPart), thread);
  }
  if (responses.length < parts.length) {
    throw new HoldpointError(
      'invalid-input',
      'A message with an interaction_response must contain nothing else; send the rest in another message.',
    );
  }
  const questions = listQuestions(thread);
  const answers = responses.map((part) =>
    parsePageInteraction('data' in part ? part.data : undefined, questions),
  );
  return { type: 'answers', answers };
}

function withState(
  { id, metadata }: UIMessage,
  unnamed: ModelMessage,
  thread: AgentThread,
): UserMessage {
  const named = id === '' ? unnamed : withMessageId(unnamed, id);
  const message = metadata === undefined ? named : withMetadata(named, parseMetadata(metadata));
  const state = findMessageState(thread, id, unnamed);
  switch (state.type) {
    case 'new':
      return { type: 'message', message };
    case 'edit':
      return { type: 'message', message, replaces: state.replaces };
    case 'recorded':
      return state;
  }
}

async function validateMessage(message: unknown): Promise<UIMessage> {
  const validated = await safeValidateUIMessages({ messages: [message] });
  const [valid] = validated.success ? validated.data : [];
  if (valid?.role === 'user' && valid.id.length <= 256 && valid.id.isWellFormed()) return valid;
  throw new HoldpointError(
    'invalid-input',
    'The message is not a valid user message of the AI SDK; its id may have at most 256 characters.',
  );
}

/* Everybody who opens the thread gets it. */
function parseMetadata(metadata: unknown): JSONValue {
  const fault = whyNotStrictJson(metadata);
  if (fault === undefined) return jsonValueSchema.parse(metadata);
  throw new HoldpointError(
    'invalid-input',
    `The message's metadata can't be recorded: ${fault}. Send other metadata, or none.`,
  );
}

async function toModelMessage(
  parts: readonly UIPart[],
  convertDataPart: ConvertDataPart | undefined,
): Promise<ModelMessage> {
  const options = convertDataPart === undefined ? {} : { convertDataPart };
  const user = { role: 'user' as const, parts: acceptParts(parts) };
  const [message = { role: 'user', content: [] }] = await convertToModelMessages([user], options);
  return message;
}

function isInteractionResponse({ type }: UIPart): boolean {
  return type === 'data-interaction_response' || type === 'data-interactionResponse';
}

/* A page sends content only: provider options and provider file ids in its parts are dropped. */
function acceptParts(parts: readonly UIPart[]): UIPart[] {
  let files = 0;
  return parts.flatMap((part): UIPart[] => {
    if (part.type === 'text') return [{ type: 'text', text: part.text }];
    if (part.type !== 'file') return 'data' in part ? [part] : [];
    files += 1;
    return [checkAttachment(part, files)];
  });
}

/* Answered ones too: the same answer again has no effect, and a different one is refused as such. */
function listQuestions({ events }: AgentThread): QuestionRequestContent[] {
  return events
    .filter((event) => event.type === 'request-opened')
    .map(({ request }) => request)
    .filter((request) => request.type === 'question-request');
}

const namedSchema = z.looseObject({
  interaction_id: z.string().optional(),
  interactionId: z.string().optional(),
});

function parsePageInteraction(
  response: unknown,
  questions: readonly QuestionRequestContent[],
): QuestionResponseContent {
  const { interaction_id: snake, interactionId: camel } =
    namedSchema.safeParse(response).data ?? {};
  const id = snake ?? camel;
  const request = questions.find((question) => hasInteractionId(question, id));
  if (request !== undefined) return fromInteractionResponse(request, response);
  throw new HoldpointError(
    'not-found',
    `This thread has no question with the interaction_id ${JSON.stringify(id)}; send the interaction_id of a question that this thread shows.`,
  );
}

/** The state of a user's message in the thread, which may have recorded it. It is found by the page's id for it. */
type MessageState =
  | { type: 'new' }
  /** The thread recorded it at this revision. */
  | { type: 'recorded'; revision: number; hasReply: boolean }
  /** It replaces the message that the thread recorded at this revision, and those after it; or repeats a withdrawn one. */
  | { type: 'edit'; replaces: number };

/** Finds the state of a user's message in the thread. Throws `invalid-input` for an edit of a message that has a reply. */
function findMessageState(
  { id: threadId, events }: AgentThread,
  id: string,
  message: ModelMessage,
): MessageState {
  const imported = listImportedMessages(events).find(
    (each, index) => each.role === 'user' && makeImportedId(threadId, each, index) === id,
  );
  if (imported !== undefined && writeContent(imported) === writeContent(message)) {
    return { type: 'recorded', revision: 2, hasReply: true };
  }
  if (imported !== undefined) throw makeNotEditableError();
  const retracted = findRetractedMessages(events);
  const index = findMessageIndex(events, retracted, id) ?? findGeneratedId(threadId, id);
  const event = index === undefined ? undefined : events[index];
  if (index === undefined) return { type: 'new' };
  const isMessage = event !== undefined && isAppMessage(event);
  const later = events.slice(index + 1).filter((each) => !retracted.has(each));
  const hasReply = later.some(({ type }) => type === 'step-finished');
  const revision = index + 1;
  if (event !== undefined && retracted.has(event)) return { type: 'edit', replaces: revision };
  if (isMessage && writeContent(event.message) === writeContent(message)) {
    return { type: 'recorded', revision, hasReply };
  }
  if (isMessage && !hasReply) return { type: 'edit', replaces: revision };
  throw makeNotEditableError();
}

function makeNotEditableError(): HoldpointError {
  return new HoldpointError(
    'invalid-input',
    "This message is part of the record and can't be edited; send a new message.",
  );
}

/* Finds the position of the message for which `toUIMessages` generated this id. */
function findGeneratedId(threadId: string, id: string): number | undefined {
  const suffix = id.startsWith(`${threadId}:`) ? id.slice(threadId.length) : '';
  const [, revision] = /^:(\d+):user$/.exec(suffix) ?? [];
  return revision === undefined ? undefined : Number(revision) - 1;
}

function findMessageIndex(
  events: readonly ThreadEvent[],
  retracted: ReadonlySet<ThreadEvent>,
  id: string,
): number | undefined {
  const isMeant = (event: ThreadEvent): boolean =>
    event.type === 'message-added' && readMessageId(event.message) === id;
  const kept = events.findLastIndex((event) => isMeant(event) && !retracted.has(event));
  const index = kept === -1 ? events.findLastIndex(isMeant) : kept;
  return index === -1 ? undefined : index;
}

/* Writes its content as a page has it: without ids, metadata and provider options. */
function writeContent(message: ModelMessage): string {
  return JSON.stringify(toUserUIMessage(message, '')?.parts);
}

const token = '[\\w!#$&^.+-]+';
const mediaTypePattern = new RegExp(`^${token}/(?:\\*|${token})(?: *; *${token}=[^\\s,;]+)*$`);
const dataUrlPattern = new RegExp(
  `^data:${token}/${token}(?:;${token}=[^;,]+)*;base64,(.*)$`,
  'is',
);

/**
 * Picks the fields of a file that a page may set. Throws `invalid-input` with the file and the reason if no provider could accept the file:
 * once recorded it would fail every run of the thread.
 */
export function checkAttachment(
  { type, mediaType, filename, url }: FileUIPart,
  place: number,
): FileUIPart {
  const fault = findAttachmentFault(mediaType, url);
  if (fault === undefined) {
    return { type, mediaType, url, ...(filename === undefined ? {} : { filename }) };
  }
  const name =
    filename === undefined
      ? `File ${place} of the message`
      : `The file "${inertText(filename.slice(0, 100).toWellFormed())}"`;
  throw new HoldpointError('invalid-input', `${name} can't be sent: ${fault}.`);
}

function findAttachmentFault(mediaType: string, url: string): string | undefined {
  if (!URL.canParse(url)) return 'it has no valid address';
  const { protocol } = new URL(url);
  switch (protocol) {
    case 'http:':
    case 'https:':
      return findMediaTypeFault(mediaType);
    case 'data:':
      return findMediaTypeFault(mediaType) ?? findDataFault(url);
    default:
      return `it has a ${protocol.slice(0, 20)} address; http:, https: and data: can be sent`;
  }
}

function findMediaTypeFault(mediaType: string): string | undefined {
  if (mediaType === '') return 'it has no media type, such as "application/pdf"';
  return mediaTypePattern.test(mediaType) ? undefined : 'its media type is malformed';
}

function findDataFault(url: string): string | undefined {
  const [, content] = dataUrlPattern.exec(url) ?? [];
  if (content === undefined)
    return 'its data URL is malformed; it must be data:<type>;base64,<bytes>';
  if (content === '') return 'it is empty';
  try {
    parseBase64(content);
    return undefined;
  } catch {
    return 'its content is not valid base64';
  }
}
