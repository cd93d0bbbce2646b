import type { ModelMessage } from 'ai';
import { z } from 'zod';
import { boundList } from '../../json/bounded-list.ts';
import {
  importFromClient,
  refuseManyMessages,
  type SentPlace,
} from '../../view/import-from-client.ts';
import { type AnswerOptions, makeImportError, type DeliveredOutcome } from '../../agent.ts';
import { HoldpointError } from '../../errors.ts';
import type { AgentThread } from '../../thread/agent-thread.ts';
import { isChannelId, withMessageId, readMessageId } from '../../thread/app-messages.ts';
import type { AssistantPart } from '../../thread/proposed-calls.ts';
import type { AgUiHandlerOptions } from './ag-ui-handler-options.ts';
import { listImportedUsers, listRetractedIds, readUserMessage } from './thread-messages.ts';
import type { ClientMessage, RunAgentInput } from './run-agent-input.ts';

/**
 * Opens the thread of a request, and imports the history that a client sends for one without events. Throws `invalid-input` if the app does
 * not import histories.
 */
export async function openWithHistory<RUNTIME_CONTEXT>(
  { agent, history = 'refuse' }: AgUiHandlerOptions<RUNTIME_CONTEXT>,
  { threadId, messages }: Pick<RunAgentInput, 'threadId' | 'messages'>,
  by: AnswerOptions,
): Promise<AgentThread> {
  const thread = await agent.thread(threadId);
  const newest = listLatestMessages(messages);
  const lead = newest.findIndex(({ role }) => role !== 'tool');
  const end = messages.length - newest.length + (lead === -1 ? newest.length : lead);
  const earlier = messages.length === newest.length ? [] : messages.slice(0, end);
  if (thread.revision > 0 || earlier.length === 0) return thread;
  if (history !== 'import') {
    throw new HoldpointError(
      'invalid-input',
      `Thread ${threadId} does not exist, but the client sent ${earlier.length} earlier message(s). Import them on the server with agent.thread(id, { messages }), or create the handler with history: 'import'.`,
    );
  }
  const sent = convertEarlierMessages(earlier, threadId);
  return importFromClient(
    agent,
    { threadId, messages: sent.map(({ message }) => message), sent },
    by,
  );
}

type Sent = SentPlace & { message: ModelMessage };

/* Clients show these to people; the model doesn't get them. Instructions come from the agent. */
const shownOnly = new Set(['system', 'developer', 'reasoning', 'activity']);

function convertEarlierMessages(earlier: readonly ClientMessage[], threadId: string): Sent[] {
  const names = new Map<string, string>();
  return earlier.flatMap((message, index): Sent[] => {
    const position = `messages[${index}]`;
    switch (message.role) {
      case 'user':
        return [{ position, message: convertUserMessage(message, position, threadId) }];
      case 'assistant':
        return convertAssistantMessage(message, position, names);
      case 'tool':
        return [
          { position, places: ['content'], message: convertToolMessage(message, position, names) },
        ];
      default:
        if (shownOnly.has(message.role)) return [];
        throw makeImportError(position, `the role ${JSON.stringify(message.role)} is not known`);
    }
  });
}

function convertUserMessage(
  { id, content: sent }: ClientMessage,
  position: string,
  threadId: string,
): ModelMessage {
  const content = parseUserContent(sent);
  const isWhole = content !== undefined && (!Array.isArray(sent) || sent.length === content.length);
  if (!isWhole) throw makeImportError(position, 'its content is not valid AG-UI');
  const message: ModelMessage = { role: 'user', content };
  return isId(id, threadId) ? withMessageId(message, id) : message;
}

function convertToolMessage(
  { toolCallId = '', content, error }: ClientMessage,
  position: string,
  names: ReadonlyMap<string, string>,
): ModelMessage {
  const toolName = names.get(toolCallId);
  if (toolName === undefined) {
    throw makeImportError(position, `no call above it has the id ${JSON.stringify(toolCallId)}`);
  }
  if (typeof content !== 'string') throw makeImportError(position, 'its content is not a text');
  const output =
    error === undefined
      ? { type: 'text' as const, value: content }
      : { type: 'error-text' as const, value: error };
  return { role: 'tool', content: [{ type: 'tool-result', toolCallId, toolName, output }] };
}

function convertAssistantMessage(
  { content, toolCalls = [] }: ClientMessage,
  position: string,
  names: Map<string, string>,
): Sent[] {
  const isText = typeof content === 'string' && content.trim() !== '';
  const text: AssistantPart[] = isText ? [{ type: 'text', text: content }] : [];
  const calls = toolCalls.map(({ id: toolCallId, function: called }, index): AssistantPart => {
    const place = `${position}.toolCalls[${index}]`;
    if (called === undefined) throw makeImportError(place, 'it names no function');
    const { name: toolName } = called;
    names.set(toolCallId, toolName);
    return { type: 'tool-call', toolCallId, toolName, input: parseArguments(called, place) };
  });
  const parts = [...text, ...calls];
  if (parts.length === 0) return [];
  const places = [
    ...text.map(() => 'content'),
    ...calls.map((_call, index) => `toolCalls[${index}]`),
  ];
  return [{ position, places, message: { role: 'assistant', content: parts } }];
}

function parseArguments({ arguments: text }: { arguments: string }, place: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw makeImportError(place, 'its arguments are not JSON', cause);
  }
}

/**
 * Lists the user's messages that may be new: those below the agent's last message, with the client's ids, by which the thread recognizes
 * recorded ones. Retracted messages are not added again, and the rest of the list is ignored. Throws `invalid-input` for an invalid
 * message, and for an id that two different messages have.
 */
export function listNewUserMessages(
  messages: readonly ClientMessage[],
  thread: AgentThread,
): ModelMessage[] {
  const sent = listLatestMessages(messages).filter(({ role }) => role === 'user');
  refuseManyMessages(sent);
  refuseSharedIds(sent);
  const generated = listGeneratedIds(sent, thread);
  const retracted = listRetractedIds(thread);
  return sent
    .filter(({ id }) => !generated.has(id) && !retracted.has(id))
    .map(({ id, content }) => {
      const parsed = parseUserContent(content);
      if (parsed !== undefined && isId(id, thread.id)) {
        return withMessageId({ role: 'user', content: parsed }, id);
      }
      throw new HoldpointError(
        'invalid-input',
        `The user message ${JSON.stringify(id)} is not a valid AG-UI message, or its id is not allowed.`,
      );
    });
}

/**
 * Lists the messages that the thread lacks in this form, for the agent to record or to refuse. A client's list has everybody's messages:
 * those that it repeats are history, and not the sender's.
 */
export function listUnrecordedMessages(
  messages: readonly ModelMessage[],
  { events }: AgentThread,
): ModelMessage[] {
  const recorded = new Map(
    events.flatMap((event) =>
      event.type === 'message-added' ? [[readMessageId(event.message), event.message]] : [],
    ),
  );
  return messages.filter((message) => {
    const id = readMessageId(message);
    const before = id === undefined ? undefined : recorded.get(id);
    return (
      before === undefined || JSON.stringify(before.content) !== JSON.stringify(message.content)
    );
  });
}

/** The messages in a client's list below the agent's last one: the user's, and also the client's own notes and results. */
export function listLatestMessages(messages: readonly ClientMessage[]): readonly ClientMessage[] {
  return messages.slice(messages.findLastIndex(({ role }) => role === 'assistant') + 1);
}

function refuseSharedIds(sent: readonly ClientMessage[]): void {
  const contents = new Map<string, string | undefined>();
  for (const { id, content } of sent) {
    const text = JSON.stringify(content);
    if (contents.has(id) && contents.get(id) !== text) {
      throw new HoldpointError(
        'invalid-input',
        `Two messages have the id ${JSON.stringify(id)}; give each its own.`,
      );
    }
    contents.set(id, text);
  }
}

/** The ids that were generated for messages without a client's id. */
function listGeneratedIds(sent: readonly ClientMessage[], thread: AgentThread): Set<string> {
  const { id, events } = thread;
  if (!sent.some((message) => isChannelId(id, message.id))) return new Set();
  const shown = [...events.keys()].flatMap((index) => readUserMessage(id, events, index));
  shown.push(...listImportedUsers(thread));
  return new Set(shown.map((message) => message.id).filter((each) => isChannelId(id, each)));
}

/** Checks whether a client's id for a message can be kept. */
function isId(id: string, threadId: string): boolean {
  return id.length > 0 && id.length <= 256 && id.isWellFormed() && !isChannelId(threadId, id);
}

/** The result of a call that the client ran. */
interface ClientResult {
  toolCallId: string;
  outcome: DeliveredOutcome;
}

/**
 * The results in a client's list that are new: those of deferred calls of `clientTools`. Others are history, or forged, and are ignored.
 * Throws `invalid-input` for a result that is not text, because a recorded result can't be corrected.
 */
export function listClientResults(
  messages: readonly ClientMessage[],
  thread: AgentThread,
  clientTools: readonly string[],
): ClientResult[] {
  const waiting = new Set(
    thread.calls
      .filter(({ status, toolName }) => status === 'deferred' && clientTools.includes(toolName))
      .map(({ toolCallId }) => toolCallId),
  );
  return messages.flatMap(({ role, toolCallId, content, error }): ClientResult[] => {
    if (role !== 'tool' || toolCallId === undefined || !waiting.delete(toolCallId)) return [];
    const outcome: DeliveredOutcome =
      error === undefined
        ? { status: 'succeeded', output: parseResultText(content, toolCallId) }
        : { status: 'failed', error };
    return [{ toolCallId, outcome }];
  });
}

const partsSchema = boundList(z.unknown(), 10_000);
const resultTextSchema = z.union([
  z.string(),
  partsSchema.transform((parts) => parts.map(readPartText).join('')),
]);

/* A result is text here; other parts are dropped. */
function parseResultText(content: unknown, toolCallId: string): string {
  const parsed = resultTextSchema.safeParse(content);
  if (parsed.success) return parsed.data;
  throw new HoldpointError(
    'invalid-input',
    `The result of call ${toolCallId} is not text; send its content as a string or as text parts.`,
  );
}

function readPartText(part: unknown): string {
  return isPart(part) ? (textSchema.safeParse(part).data?.text ?? '') : '';
}

type UserContent = Extract<ModelMessage, { role: 'user' }>['content'];
type UserPart = Exclude<UserContent, string>[number];

const textSchema = z.object({ type: z.literal('text'), text: z.string() });
const mediaSchema = z.object({
  type: z.enum(['image', 'audio', 'video', 'document']),
  source: z.discriminatedUnion('type', [
    z.object({
      type: z.literal('url'),
      value: z.url({ protocol: /^https?$/ }),
      mimeType: z.string().optional(),
    }),
    z.object({ type: z.literal('data'), value: z.base64(), mimeType: z.string() }),
  ]),
});
const partSchema = z.union([textSchema, mediaSchema]);
const contentSchema = z.union([z.string(), partsSchema]);

/**
 * The content of a user's message for the model; `undefined` if it is invalid. Parts that can't be used are left out, as the protocol
 * demands, and so are a provider's file ids.
 */
function parseUserContent(content: unknown): UserContent | undefined {
  const { data } = contentSchema.safeParse(content);
  if (data === undefined || typeof data === 'string') return data;
  return data.filter(isPart).flatMap((part) => {
    const parsed = partSchema.safeParse(part);
    return parsed.success ? [toUserPart(parsed.data)] : [];
  });
}

/* A schema takes a hundred times as long to refuse, and a body has room for millions of invalid parts. */
function isPart(part: unknown): boolean {
  return typeof part === 'object' && part !== null && 'type' in part;
}

function toUserPart(part: z.infer<typeof partSchema>): UserPart {
  if (part.type === 'text') return part;
  const { type, source } = part;
  const mediaType =
    source.mimeType ?? (type === 'document' ? 'application/octet-stream' : `${type}/*`);
  return {
    type: 'file',
    mediaType,
    data: source.type === 'url' ? new URL(source.value) : source.value,
  };
}
