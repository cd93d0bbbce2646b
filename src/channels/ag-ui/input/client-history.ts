import type { AssistantModelMessage, ModelMessage } from 'ai';
import { type AnswerOptions, makeImportError } from '../../../agent/input.ts';
import { importFromClient, type SentPlace } from '../../../agent/import-from-client.ts';
import { HoldpointError } from '../../../errors.ts';
import type { AgentThread } from '../../../thread/agent-thread.ts';
import { withMessageId } from '../../../thread/app-messages.ts';
import type { AgUiHandlerOptions } from '../ag-ui-handler-options.ts';
import { isId, listLatestMessages } from './new-messages.ts';
import type { ClientMessage, RunAgentInput } from './run-agent-input.ts';
import { parseUserContent } from './user-content.ts';

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
type AssistantPart = Exclude<AssistantModelMessage['content'], string>[number];

/* A client shows these to people; the model does not receive them. The instructions are the agent's. */
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
