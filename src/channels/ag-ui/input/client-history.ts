import type { AssistantModelMessage, ModelMessage } from 'ai';
import type { AnswerOptions } from '../../../agent/input/run-input.ts';
import { HoldpointError } from '../../../errors.ts';
import type { AgentThread } from '../../../thread/agent-thread.ts';
import { withMessageId } from '../../../thread/app-messages.ts';
import type { AgUiHandlerOptions } from '../ag-ui-handler-options.ts';
import { latestMessages } from './new-messages.ts';
import type { ClientMessage, RunAgentInput } from './run-agent-input.ts';
import { userContent } from './user-content.ts';

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
  const newest = latestMessages(messages);
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
  return agent.thread(threadId, { messages: modelMessages(earlier), openCalls: 'close', ...by });
}

/* Thoughts, activities and the client's own instructions are no part of the history. */
function modelMessages(earlier: readonly ClientMessage[]): ModelMessage[] {
  const names = new Map<string, string>();
  return earlier.flatMap((message, index): ModelMessage[] => {
    switch (message.role) {
      case 'user': {
        const content = userContent(message.content);
        if (content === undefined) throw invalidAt(index);
        return [withMessageId({ role: 'user', content }, message.id)];
      }
      case 'assistant':
        return assistantMessage(message, index, names);
      case 'tool': {
        const { toolCallId = '', content, error } = message;
        const toolName = names.get(toolCallId);
        if (toolName === undefined || typeof content !== 'string') throw invalidAt(index);
        const output =
          error === undefined
            ? { type: 'text' as const, value: content }
            : { type: 'error-text' as const, value: error };
        return [{ role: 'tool', content: [{ type: 'tool-result', toolCallId, toolName, output }] }];
      }
      default:
        return [];
    }
  });
}

function assistantMessage(
  { content, toolCalls = [] }: ClientMessage,
  index: number,
  names: Map<string, string>,
): ModelMessage[] {
  const parts: Exclude<AssistantModelMessage['content'], string> = [];
  if (typeof content === 'string' && content.trim() !== '')
    parts.push({ type: 'text', text: content });
  for (const { id: toolCallId, function: called } of toolCalls) {
    if (called === undefined) throw invalidAt(index);
    names.set(toolCallId, called.name);
    parts.push({
      type: 'tool-call',
      toolCallId,
      toolName: called.name,
      input: inputOf(called, index),
    });
  }
  return parts.length === 0 ? [] : [{ role: 'assistant', content: parts }];
}

function inputOf({ arguments: text }: { arguments: string }, index: number): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw invalidAt(index, cause);
  }
}

function invalidAt(index: number, cause?: unknown): HoldpointError {
  return new HoldpointError(
    'invalid-input',
    `messages[${index}] is not a valid AG-UI message, so the history can't be imported.`,
    { cause },
  );
}
