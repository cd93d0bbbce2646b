import type { ModelMessage } from 'ai';
import { z } from 'zod';
import { whyNotSendable } from '../../content/message-file.ts';
import { copyPlain } from '../../content/json-value.ts';
import {
  type UserInputResponseContent,
  userInputResponseSchema,
  type AskedAnswer,
} from '../../content/user-input.ts';
import { HoldpointError } from '../../errors.ts';
import { whyNotStrictJson } from '../../policy/strict-json.ts';
import { readMessageId, withMessageId } from '../../thread/app-messages.ts';
import { copyAsLogged } from '../../thread/tagged-json.ts';
import type { ThreadEvent } from '../../thread/thread-event.ts';
import type { OpenRequest } from '../../thread/thread-head.ts';
import type { CheckedAnswers, MirroredCall, Reporting } from '../calls/delegation.ts';
import { inputMessageSchemas } from '../model/message-schemas.ts';

/** The input of a run: text, messages, answers, or several of these. `[]` resumes the thread. */
export type RunInput = InputItem | readonly InputItem[];

/** One item of a run's input. */
export type InputItem = string | ModelMessage | AnswerMessage | UserInputResponseContent;

/** A user message that contains answers: the same as the answers alone. */
interface AnswerMessage {
  /** It is a message of a user. */
  role: 'user';
  /** The answers. */
  content: readonly UserInputResponseContent[];
}

/** Who sends a message or an answer, and through which channel. */
export interface AnswerOptions {
  /**
   * The sender, as authenticated by the app: any JSON. It is recorded with each message and answer. Requests that a message leads to show
   * it to the people who are asked (`requestedBy`, `requesters`), so leave out what they may not see.
   */
  principal?: unknown;
  /** The channel, in the app's words (`'slack'`, `'web'`), 1 to 100 characters. It is recorded too. */
  channel?: string;
}

/**
 * Decides whether somebody may answer a request; only `true` allows it. Everybody with access to a thread can send messages to it; this
 * decides whose answers count.
 *
 * @example
 * mayAnswer: ({ principal, request }) => isOwner(principal) || request.type === 'question-request'
 */
export type MayAnswer = (asked: AskedAnswer) => boolean | PromiseLike<boolean>;

/** The input of a run, checked as far as possible without the thread. */
export interface ParsedInput {
  messages: ModelMessage[];
  answers: UserInputResponseContent[];
  /** Who sends it. */
  by: AnswerOptions;
  /** Everybody for whom the messages are sent, if not only for the sender. */
  requesters?: readonly unknown[];
  /** The id of the message to whose reply the caller is entitled: what the caller named, or else what the last of `messages` has. */
  messageId?: string | undefined;
  /**
   * Whether the sender is this principal, who sent a message before. Absent where a recorded message stays, whatever is sent under its id.
   */
  isSender?: (principal: unknown) => boolean;
  /** Whether the sender resumes a turn that a person stopped before its reply. */
  resumeStopped?: boolean | undefined;
  /** The revision at which the thread recorded the message that is edited. */
  replaces?: number | undefined;
  /** The open requests that the sender may answer; absent without `mayAnswer`. */
  allowedRequests?: ReadonlySet<string>;
  /** How answers count whose request demands more than one yes, or which say more than yes or no; by request. */
  weighed?: ReadonlyMap<string, Weigh>;
  /** The person who had asked the sender to answer instead, if the agent of the parent thread says so. */
  onBehalfOf?: string | undefined;
  /** The people whose earlier approvals no longer count, as the agents of the threads above say. */
  revoked?: ReadonlySet<string> | undefined;
  /** When the answered request closes in the threads above. */
  until?: number | undefined;
  /** Throws for an open request that the input ends, unless the sender may; absent where the input ends none, or all may be ended. */
  refuseEnding?: RefuseEnding | undefined;
  /** The answers to requests of sub-agents, which record them; absent without one. */
  passed?: readonly PassedDown[];
  /** What the sub-agents have recorded about the answers to their requests. */
  reported?: Reporting;
}

/** An answer that a sub-agent has checked. */
export interface PassedDown extends MirroredCall, CheckedAnswers {}

/** The events of an answer to a request as it is now: the first says that the request is decided, or voted on; none if nothing changes. */
export type Weigh = (open: OpenRequest, at: number) => ThreadEvent[];

/** Throws for a request that would be ended without an answer, unless somebody was asked whether it may be. */
export type RefuseEnding = (open: OpenRequest) => void;

/** Parses the input of a run. Throws `invalid-input` or `invalid-answer` before anything has happened. */
export function parseInput(
  input: unknown,
  options: AnswerOptions & {
    allowSystemInMessages?: boolean | undefined;
    messageId?: string | undefined;
  },
): ParsedInput {
  const parsed: ParsedInput = { messages: [], answers: [], by: parseAnswerer(options) };
  const items = Array.isArray(input) ? input : [input];
  for (const item of items.flatMap(unwrapAnswers)) {
    if (isAnswer(item)) parsed.answers.push(parseAnswer(item));
    else parsed.messages.push(parseMessage(item, options));
  }
  for (const message of parsed.messages) {
    refuseEmpty(message);
    refuseFiles(message);
  }
  const { messageId } = options;
  const messages = parsed.messages.map((message) => copyAsLogged(message));
  if (messageId === undefined) {
    const last = messages.at(-1);
    return { ...parsed, messages, messageId: last && readMessageId(last) };
  }
  return { ...parsed, messages: withId(messages, messageId), messageId };
}

/** The messages, with the caller's id on the last, unless it is another's. */
function withId(messages: readonly ModelMessage[], messageId: string): ModelMessage[] {
  if (!messageIdSchema.safeParse(messageId).success) {
    throw new HoldpointError('invalid-input', 'messageId must be a string of 1 to 256 characters.');
  }
  const last = messages.at(-1);
  if (last === undefined) {
    throw new HoldpointError('invalid-input', 'messageId needs a message in the input.');
  }
  if (messages.some((message) => readMessageId(message) === messageId)) return [...messages];
  return [...messages.slice(0, -1), withMessageId(last, messageId)];
}

const messageIdSchema = z
  .string()
  .min(1)
  .max(256)
  .refine((text) => text.isWellFormed());

function isAnswer(item: unknown): boolean {
  if (typeof item !== 'object' || item === null || !('type' in item)) return false;
  return item.type === 'approval-response' || item.type === 'question-response';
}

/** Splits a user message that contains answers into these and the rest of the message. */
function unwrapAnswers(item: unknown): unknown[] {
  if (typeof item !== 'object' || item === null || !('role' in item && 'content' in item)) {
    return [item];
  }
  const { role, content } = item;
  if (role !== 'user' || !Array.isArray(content) || !content.some(isAnswer)) return [item];
  const rest: unknown[] = content.filter((part) => !isAnswer(part));
  const answers: unknown[] = content.filter(isAnswer);
  return rest.length === 0 ? answers : [...answers, { ...item, content: rest }];
}

/** The answers in the input of a run, as they were given, and the requests that they name. */
export function listAnswers(input: unknown): { requestId: string; given: unknown }[] {
  const items: unknown[] = Array.isArray(input) ? input : [input];
  return items
    .flatMap(unwrapAnswers)
    .filter(isAnswer)
    .flatMap((given) => {
      const requestId = readRequestId(given);
      return requestId === undefined ? [] : [{ requestId, given }];
    });
}

function parseMessage(
  item: unknown,
  options: { allowSystemInMessages?: boolean | undefined },
): ModelMessage {
  if (typeof item === 'string') return { role: 'user', content: item };
  if (typeof item !== 'object' || item === null || !('role' in item)) {
    throw new HoldpointError(
      'invalid-input',
      'The input of a run must be text, user messages, or answers to requests.',
    );
  }
  const { role } = item;
  if (role !== 'user' && !(role === 'system' && options.allowSystemInMessages === true)) {
    throw new HoldpointError(
      'invalid-input',
      `A message in the input must have the role 'user', not '${String(role)}': ` +
        'only the thread records what the model and the tools said.',
    );
  }
  const parsed = inputMessageSchemas[role].safeParse(item);
  if (parsed.success) return parsed.data;
  throw new HoldpointError(
    'invalid-input',
    `Not a valid ${role} message: it does not match the AI SDK's schema.`,
    { cause: parsed.error },
  );
}

/** Parses an answer with a strict schema: nothing but `approved: true` approves. */
function parseAnswer(item: unknown): UserInputResponseContent {
  const parsed = userInputResponseSchema.safeParse(item);
  if (!parsed.success) {
    throw new HoldpointError(
      'invalid-answer',
      `Not a valid answer to a request: ${z.prettifyError(parsed.error)}`,
      { requestId: readRequestId(item) },
    );
  }
  const { data } = parsed;
  const carried =
    data.type === 'approval-response' ? [data.toolCall?.input, data.input] : [data.metadata];
  for (const value of carried) {
    const fault = value === undefined ? undefined : whyNotStrictJson(value);
    if (fault === undefined) continue;
    throw new HoldpointError(
      'invalid-answer',
      `The answer has a value that is not JSON: ${fault}.`,
      { requestId: data.requestId },
    );
  }
  return copyAsLogged(data);
}

function readRequestId(item: unknown): string | undefined {
  return z.object({ requestId: z.string() }).safeParse(item).data?.requestId;
}

/** Whether a message is more than blank text, which providers reject. */
export function hasContent({ content }: Pick<ModelMessage, 'content'>): boolean {
  if (typeof content === 'string') return content.trim() !== '';
  return content.some((part) => !('text' in part) || part.text.trim() !== '');
}

function refuseEmpty(message: ModelMessage): void {
  if (hasContent(message)) return;
  throw new HoldpointError(
    'invalid-input',
    'The message is empty; providers reject empty messages.',
  );
}

function refuseFiles({ content }: ModelMessage): void {
  if (typeof content === 'string') return;
  for (const part of content) {
    const fault = findFileFault(part);
    if (fault !== undefined) throw new HoldpointError('invalid-input', fault);
  }
}

type MessagePart = Exclude<ModelMessage['content'], string>[number];

/** Why a part is a file that no provider accepts: it would fail every later run. `undefined` for any other part. */
export function findFileFault(part: MessagePart): string | undefined {
  if (part.type !== 'file' && part.type !== 'image') return undefined;
  const data = part.type === 'image' ? part.image : part.data;
  const fault = whyNotSendable(data, part.mediaType);
  if (fault === undefined) return undefined;
  const name = 'filename' in part && part.filename !== undefined ? ` '${part.filename}'` : '';
  return `The file${name} can't be sent to a model: ${fault}.`;
}

/** Who answers, copied for the log. Throws `invalid-input` for a principal that is not JSON, or an invalid channel. */
export function parseAnswerer({ principal, channel }: AnswerOptions): AnswerOptions {
  const fault = principal === undefined ? undefined : whyNotStrictJson(principal);
  if (fault !== undefined) {
    throw new HoldpointError('invalid-input', `principal must be JSON: ${fault}.`);
  }
  if (channel !== undefined && !channelSchema.safeParse(channel).success) {
    throw new HoldpointError('invalid-input', 'channel must be a string of 1 to 100 characters.');
  }
  return {
    ...(principal === undefined ? {} : { principal: copyPlain(principal) }),
    ...(channel === undefined ? {} : { channel }),
  };
}

const channelSchema = z
  .string()
  .min(1)
  .max(100)
  .refine((text) => text.isWellFormed());
