import { safeValidateUIMessages, type UIMessage } from 'ai';
import type { AnswerOptions } from '../../../agent/input/run-input.ts';
import { HoldpointError } from '../../../errors.ts';
import type { AgentThread } from '../../../thread/agent-thread.ts';
import type { UiHandlerOptions } from '../ui-handler-options.ts';
import { checkedAttachment } from './attachment.ts';
import { type ChatRequest, headOf } from './chat-request.ts';

type UIPart = UIMessage['parts'][number];

/** The thread of a request, and the request without what has become history. */
interface WithHistory {
  thread: AgentThread;
  request: ChatRequest;
}

/** Imports the history that a page sends for a thread without events. Throws `invalid-input` if the app does not import histories. */
export async function withHistory<RUNTIME_CONTEXT>(
  { agent, history = 'refuse' }: UiHandlerOptions<RUNTIME_CONTEXT>,
  request: ChatRequest,
  by: AnswerOptions,
): Promise<WithHistory> {
  const { threadId, earlier } = request;
  const thread = await agent.thread(threadId);
  if (thread.revision > 0 || earlier.length === 0) return { thread, request };
  if (history !== 'import') {
    throw new HoldpointError(
      'invalid-input',
      `Thread ${threadId} does not exist, but the page sent ${earlier.length} earlier message(s). Import them on the server with agent.thread(id, { messages }), or create the handler with history: 'import'.`,
    );
  }
  const messages = await acceptedHistory(earlier);
  const imported = await agent.thread(threadId, { messages, openCalls: 'close', ...by });
  const isAssistant = headOf(request.message)?.role === 'assistant';
  /* Answers in the history are answers to requests of another system. */
  return {
    thread: imported,
    request: {
      ...request,
      assistantMessage: undefined,
      ...(isAssistant ? { message: undefined, answers: [], revision: undefined } : {}),
    },
  };
}

/* A page sends content only. Provider metadata, reasoning and sources in it are dropped: they could name what another person stored. */
async function acceptedHistory(messages: readonly unknown[]): Promise<UIMessage[]> {
  const validated = await safeValidateUIMessages({ messages: [...messages] });
  if (!validated.success) {
    throw new HoldpointError('invalid-input', 'The earlier messages are not valid UI messages.', {
      cause: validated.error,
    });
  }
  return validated.data
    .map(({ id, role, parts }, index) => ({
      id,
      role,
      parts: parts.flatMap((part) => acceptedPart(part, `messages[${index}]`)),
    }))
    .filter(({ parts }) => parts.some(({ type }) => type !== 'step-start'));
}

function acceptedPart(part: UIPart, position: string): UIPart[] {
  if (part.type === 'text')
    return part.text.trim() === '' ? [] : [{ type: 'text', text: part.text }];
  if (part.type === 'step-start') return [part];
  if (part.type === 'file') return [checkedAttachment(part, 1)];
  if (!('toolCallId' in part)) return [];
  if (part.providerExecuted === true) {
    throw new HoldpointError(
      'invalid-input',
      `${position}: a call that the provider ran can't be imported from a page.`,
    );
  }
  const { callProviderMetadata: _metadata, ...kept } = part;
  return 'resultProviderMetadata' in kept
    ? [{ ...kept, resultProviderMetadata: undefined }]
    : [kept];
}
