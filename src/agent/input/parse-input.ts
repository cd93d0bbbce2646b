import type { ModelMessage } from 'ai';
import { z } from 'zod';
import { renderSchemaError } from '../../json/field-fault.ts';
import { whyNotSendable } from '../../content/message-file.ts';
import { copyPlain } from '../../json/json-value.ts';
import {
  type UserInputResponseContent,
  userInputResponseSchema,
  type AskedAnswer,
} from '../../content/user-input.ts';
import type { Right } from '../../content/vote.ts';
import type { MayEnd } from '../calls/delegation.ts';
import { HoldpointError } from '../../errors.ts';
import { type PrincipalId, readIdField, whyNobody } from '../../policy/same-person.ts';
import { readStrictJson } from '../../json/json-form.ts';
import { whyNotStrictJson } from '../../json/strict-json.ts';
import { isForHoldPoint, readMessageId, withMessageId } from '../../thread/app-messages.ts';
import { copyAsLogged } from '../../json/tagged-json.ts';
import { inputMessageSchemas } from '../model/message-schemas.ts';
import { noteRefusal, type Refusals } from './collect-refusals.ts';

/** The input of a run: text, messages, answers, or several of these. `[]` resumes the thread. */
export type RunInput = InputItem | readonly InputItem[];

/** One item of a run's input. */
export type InputItem = string | ModelMessage | AnswerMessage | UserInputResponseContent;

/** A user message that contains answers: the same as only the answers. */
interface AnswerMessage {
  /** It is a message of a user. */
  role: 'user';
  /** The answers. */
  content: readonly UserInputResponseContent[];
}

/** The person who sends a message or an answer, and the channel. */
export interface AnswerOptions {
  /**
   * The sender, as authenticated by the app: a text, or an object that the agent's `principalId` names, or that has an `id`, `subject`,
   * `sub` or `email`; any other object is refused with `invalid-input`. It is recorded with each message and answer. Requests that a
   * message leads to show it to the people who are asked (`requestedBy`, `requesters`), so leave out what they may not see.
   */
  principal?: unknown;
  /** The channel, in the app's words (`'slack'`, `'web'`), 1 to 100 characters. It is recorded too. */
  channel?: string;
}

/**
 * Decides whether a person may answer a request; only `true` allows it. Everybody with access to a thread can send messages to it; this
 * decides whose answers count.
 *
 * @example
 * mayAnswer: ({ principal, request }) => isOwner(principal) || request.type === 'question-request'
 */
export type MayAnswer = (asked: AskedAnswer) => boolean | PromiseLike<boolean>;

/** The input of a run, checked as far as possible without the thread. See `AdmittedInput` for what follows. */
export interface ParsedInput {
  messages: ModelMessage[];
  answers: UserInputResponseContent[];
  /** The requests that all answers name, in their order, and the reasons why some answers can't be read; absent where all can. */
  unreadable?: { refusals: Refusals; requestIds: readonly string[] };
  /** The sender. */
  by: AnswerOptions;
  /** Everybody for whom the messages are sent, if not only for the sender. */
  requesters?: readonly unknown[];
  /** The id of the message to whose reply the caller is entitled: the one that the caller named, or else that of the last of `messages`. */
  messageId?: string | undefined;
  /** Set if the agent above sends it: a recorded message stays, even if another is sent under its id. */
  isFromParent?: true;
  /** True if the sender resumes a turn that a person stopped before its reply. */
  resumeStopped?: boolean | undefined;
  /** The revision at which the thread recorded the message that is edited. */
  replaces?: number | undefined;
  /** The verdict of the agents of the threads above on the answers; absent in an outermost thread. */
  above?: Above;
}

/** The verdict of the agents of the threads above on an answer to a sub-agent's request. */
export interface Above {
  /** The right in which it is given. */
  right?: Right | undefined;
  /** The people whose earlier approvals no longer count. */
  revoked?: ReadonlySet<string> | undefined;
  /** The time when the request closes there. */
  until?: number | undefined;
  /** True if the person must not have answered before; see `RespondOptions`. */
  onlyIfUnspent?: boolean | undefined;
  /** True if the answer is a rejection that is not given, but only checks whether the person may end the request. */
  isEnding?: boolean | undefined;
  /** Asks them whether the person may end other requests with the answer. */
  mayEnd?: MayEnd | undefined;
}

/** Options of `agent.respond`. */
export interface RespondOptions extends AnswerOptions {
  /**
   * True to refuse an answer of a person who has already approved the request or given another answer, with `already-answered`: for single
   * use, such as a link in a mail. The log decides, also between two processes. Without it, people may change their approval while others
   * are awaited.
   */
  onlyIfUnspent?: boolean;
}

/**
 * Parses the input of a run. Throws `invalid-input`, or `invalid-answer` for an answer that names no request. An answer that can't be read
 * is refused with the others: see `decideInput`.
 */
export function parseInput(
  input: unknown,
  options: AnswerOptions & {
    allowSystemInMessages?: boolean | undefined;
    messageId?: string | undefined;
  },
): ParsedInput {
  const parsed: ParsedInput = { messages: [], answers: [], by: parseAnswerer(options) };
  const items = Array.isArray(input) ? input : [input];
  const given = items.flatMap(unwrapAnswers);
  const refusals = new Map<string, HoldpointError>();
  for (const item of given) {
    if (!isAnswer(item)) parsed.messages.push(parseMessage(item, options));
    else {
      try {
        parsed.answers.push(parseAnswer(item));
      } catch (error) {
        noteRefusal(refusals, readRequestId(item), error);
      }
    }
  }
  if (refusals.size > 0) {
    const requestIds = given.filter(isAnswer).map((item) => readRequestId(item) ?? '');
    parsed.unreadable = { refusals, requestIds };
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
      `Not a valid answer to a request: ${renderSchemaError(parsed.error)}`,
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

/** Checks whether a message is more than blank text, which providers reject. */
export function hasContent({ content }: Pick<ModelMessage, 'content'>): boolean {
  if (typeof content === 'string') return content.trim() !== '';
  return content.some((part) => !('text' in part) || part.text.trim() !== '');
}

function refuseEmpty(message: ModelMessage): void {
  if (message.providerOptions && isForHoldPoint(message)) {
    throw new HoldpointError(
      'invalid-input',
      'A message of answerMessage or resumeMessage is for holdPoint. Pass the answers to a run, or [] to resume.',
    );
  }
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

/** Finds the reason why no provider accepts a part's file, which would fail every later run. `undefined` for any other part. */
export function findFileFault(part: MessagePart): string | undefined {
  if (part.type !== 'file' && part.type !== 'image') return undefined;
  const data = part.type === 'image' ? part.image : part.data;
  const fault = whyNotSendable(data, part.mediaType);
  if (fault === undefined) return undefined;
  const name = 'filename' in part && part.filename !== undefined ? ` '${part.filename}'` : '';
  return `The file${name} can't be sent to a model: ${fault}.`;
}

/** Copies the person who answers, for the log. Throws `invalid-input` for a principal that is not JSON, or an invalid channel. */
export function parseAnswerer({ principal, channel }: AnswerOptions): AnswerOptions {
  const form = principal === undefined ? undefined : readStrictJson(principal);
  if (form !== undefined && 'fault' in form) {
    throw new HoldpointError('invalid-input', `principal must be JSON: ${form.fault}.`);
  }
  if (channel !== undefined && !channelSchema.safeParse(channel).success) {
    throw new HoldpointError('invalid-input', 'channel must be a string of 1 to 100 characters.');
  }
  return {
    ...(form === undefined ? {} : { principal: copyPlain(form.json) }),
    ...(channel === undefined ? {} : { channel }),
  };
}

/**
 * Copies the person whose act is recorded under their name. Throws as `parseAnswerer` does, and `invalid-input` for an object without a
 * name: others would read all of it, with its tokens, as the person's name.
 */
export function parseActor(given: AnswerOptions, principalId: PrincipalId): AnswerOptions {
  const by = parseAnswerer(given);
  refuseNameless(by, principalId);
  return by;
}

/** Throws `invalid-input` for a principal that is an object without a name. */
export function refuseNameless({ principal }: AnswerOptions, principalId: PrincipalId): void {
  const isObject = typeof principal === 'object' && principal !== null;
  const hasName = !isObject || readIdField(principal) !== undefined;
  const fault = hasName ? undefined : whyNobody(principal, principalId);
  if (fault === undefined) return;
  throw new HoldpointError(
    'invalid-input',
    `The principal names nobody: ${fault}. Give it an 'id', or the agent a principalId that names it.`,
  );
}

const channelSchema = z
  .string()
  .min(1)
  .max(100)
  .refine((text) => text.isWellFormed());
