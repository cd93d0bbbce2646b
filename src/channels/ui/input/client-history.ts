import {
  type FileUIPart,
  isDataUIPart,
  isToolUIPart,
  safeValidateUIMessages,
  type UIMessage,
} from 'ai';
import { type AnswerOptions, makeImportError } from '../../../agent.ts';
import {
  importFromClient,
  isOnlyImported,
  refuseManyMessages,
  type SentPlace,
} from '../../../view/import-from-client.ts';
import { readErrorText } from '../../../content/app-errors.ts';
import { HoldpointError } from '../../../errors.ts';
import type { AgentThread } from '../../../thread/agent-thread.ts';
import type { UiHandlerOptions } from '../ui-handler-options.ts';
import { type ChatRequest, parseMessageHead } from './chat-request.ts';
import { isChannelId } from '../../../thread/app-messages.ts';
import { type ConvertDataPart, checkAttachment } from './user-message.ts';

type UIPart = UIMessage['parts'][number];

/** The thread of a request, and the request without the messages that were imported. */
interface WithHistory {
  thread: AgentThread;
  request: ChatRequest;
  /** Earlier user messages that were never recorded and have no reply. */
  unrecorded: readonly unknown[];
}

/** Imports the history that a page sends for a thread without events. Throws `invalid-input` if the app does not import histories. */
export async function withPageHistory<RUNTIME_CONTEXT>(
  { agent, history = 'refuse', convertDataPart }: UiHandlerOptions<RUNTIME_CONTEXT>,
  request: ChatRequest,
  by: AnswerOptions,
): Promise<WithHistory> {
  const { threadId, earlier } = request;
  const thread = await agent.thread(threadId);
  if (thread.revision > 0) {
    const rest = isOnlyImported(thread) ? omitAnswers(request) : request;
    return { thread, request: rest, unrecorded: [] };
  }
  if (earlier.every((message) => parseMessageHead(message)?.role === 'user')) {
    refuseManyMessages(earlier);
    return { thread, request, unrecorded: earlier };
  }
  if (history !== 'import') {
    throw new HoldpointError(
      'invalid-input',
      `Thread ${threadId} does not exist, but the page sent ${earlier.length} earlier message(s). Import them on the server with agent.thread(id, { messages }), or create the handler with history: 'import'.`,
    );
  }
  const context = { threadId, convertDataPart };
  const read = await Promise.all(
    earlier.map(async (message, index) => acceptMessage(message, `messages[${index}]`, context)),
  );
  const sent = read.filter(({ message }) =>
    message.parts.some(({ type }) => type !== 'step-start'),
  );
  const messages = sent.map(({ message }) => message);
  const imported = await importFromClient(agent, { threadId, messages, sent }, by);
  return { thread: imported, request: omitAnswers(request), unrecorded: [] };
}

/* Answers in a history belong to requests of another system. */
function omitAnswers(request: ChatRequest): ChatRequest {
  const isAssistant = parseMessageHead(request.message)?.role === 'assistant';
  return {
    ...request,
    answersInParts: [],
    answeredIds: [],
    ...(isAssistant ? { message: undefined, answers: [], revision: undefined } : {}),
  };
}

interface HistoryContext {
  threadId: string;
  convertDataPart: ConvertDataPart | undefined;
}

/* An id in the format that is generated here would name two messages. */
async function acceptMessage(
  message: unknown,
  position: string,
  { threadId, convertDataPart }: HistoryContext,
): Promise<SentPlace & { message: UIMessage }> {
  const validated = await safeValidateUIMessages({ messages: [message] });
  const [valid] = validated.success ? validated.data : [];
  if (valid === undefined) {
    const cause = validated.success ? undefined : validated.error;
    throw makeImportError(position, 'not a valid UI message of the AI SDK', cause);
  }
  const { id, role } = valid;
  const kept = valid.parts.flatMap((part, index) => {
    const place = `parts[${index}]`;
    const shown = role === 'user' ? withData(part, convertDataPart) : part;
    return acceptPart(shown, `${position}.${place}`).map((each) => ({ part: each, place }));
  });
  const parts = kept.map(({ part }) => part);
  const isGenerated = isChannelId(threadId, id);
  const places = kept.map(({ place }) => place);
  return { position, places, message: { id: isGenerated ? '' : id, role, parts } };
}

/* As in a new message: only a text is kept. */
function withData(part: UIPart, convertDataPart: ConvertDataPart | undefined): UIPart {
  if (!isDataUIPart(part)) return part;
  const converted = convertDataPart?.(part);
  return converted?.type === 'text' ? { type: 'text', text: converted.text } : part;
}

/*
 * A page sends content only. Provider metadata is dropped, because it could name what another person stored, and reasoning with it, which
 * providers reject without it. Sources and data parts are shown to people and are never sent to a model.
 */
function acceptPart(part: UIPart, position: string): UIPart[] {
  if (part.type === 'text')
    return part.text.trim() === '' ? [] : [{ type: 'text', text: part.text }];
  if (part.type === 'step-start') return [part];
  if (part.type === 'file') return [acceptAttachment(part, position)];
  if (isToolUIPart(part)) return acceptCall(part, position);
  if (part.type === 'custom') {
    throw makeImportError(position, "a provider's custom part can't be imported from a page");
  }
  return [];
}

function acceptAttachment(part: FileUIPart, position: string): FileUIPart {
  try {
    return checkAttachment(part, 1);
  } catch (error) {
    throw makeImportError(position, readErrorText(error), error);
  }
}

/* A call whose input was still streaming was never made. */
function acceptCall(part: Extract<UIPart, { toolCallId: string }>, position: string): UIPart[] {
  if (part.providerExecuted === true) {
    throw makeImportError(position, "a call that the provider ran can't be imported from a page");
  }
  if (part.state === 'input-streaming') return [];
  const { callProviderMetadata: _metadata, ...kept } = part;
  return 'resultProviderMetadata' in kept
    ? [{ ...kept, resultProviderMetadata: undefined }]
    : [kept];
}
