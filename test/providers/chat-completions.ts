import type { ScriptedCall, ScriptedStep } from '../support/script.ts';
import { chatStream, compatibleChatStream } from './chat-events.ts';
import { type ChatMessage, chatRequestSchema } from './chat-request.ts';
import { checkRequest } from './check-request.ts';
import type { ProviderProtocol } from './provider-protocol.ts';
import { ReasoningMemory } from './reasoning-memory.ts';

/** OpenAI's chat completions, which know no reasoning. */
export function openaiChat(): ProviderProtocol {
  return {
    path: '/v1/chat/completions',
    violations: (body) =>
      checkRequest(body, chatRequestSchema, function* ({ messages }) {
        yield* answerViolations(messages);
        yield* messages.flatMap((message, index) =>
          'reasoning_content' in message ? [`messages.${index}: reasoning_content is unknown`] : [],
        );
      }),
    answer: ({ reasoning: _reasoning, ...step }) => completion(step),
    stream: chatStream,
    refusal: (message) => ({
      error: { message, type: 'invalid_request_error', param: null, code: null },
    }),
  };
}

/** The same API as others serve it: their own errors, and thinking that has to come back with the calls after it. */
export function openaiCompatibleChat(): ProviderProtocol {
  const memory = new ReasoningMemory();
  return {
    path: '/v1/chat/completions',
    violations: (body) =>
      checkRequest(body, chatRequestSchema, function* ({ messages }) {
        yield* answerViolations(messages);
        for (const [index, message] of messages.entries()) {
          if (message.role === 'assistant' && lacksReasoning(message, memory)) {
            yield `messages.${index}: reasoning_content must come back as it was given`;
          }
        }
      }),
    answer: (step) => {
      memory.remember(step.reasoning, step.calls ?? []);
      return completion(step);
    },
    stream: compatibleChatStream,
    refusal: (message) => ({
      error: { message, type: 'BadRequestError', param: null, code: 400 },
    }),
  };
}

type AssistantMessage = Extract<ChatMessage, { role: 'assistant' }>;

function lacksReasoning(message: AssistantMessage, memory: ReasoningMemory): boolean {
  return callsOf(message).some((call) => {
    const given = memory.before(call);
    /* An empty one need not be said. */
    return given.length > 0 && !given.includes(message.reasoning_content ?? '');
  });
}

/** Each call of an assistant message has exactly one tool message, before any other message. */
function* answerViolations(messages: readonly ChatMessage[]): Generator<string> {
  let asked: string[] = [];
  let answered = new Set<string>();
  for (const [index, message] of messages.entries()) {
    if (message.role === 'tool') {
      const { tool_call_id: id } = message;
      if (!asked.includes(id)) yield `messages.${index}: there is no call ${id} right before it`;
      else if (answered.has(id)) yield `messages.${index}: call ${id} is answered twice`;
      answered.add(id);
      continue;
    }
    yield* unanswered(asked, answered);
    asked = message.role === 'assistant' ? callsOf(message).map(({ id }) => id) : [];
    answered = new Set();
    if (new Set(asked).size < asked.length) yield `messages.${index}: two calls have one id`;
  }
  yield* unanswered(asked, answered);
}

function* unanswered(asked: readonly string[], answered: ReadonlySet<string>): Generator<string> {
  for (const id of asked) if (!answered.has(id)) yield `call ${id} has no tool message right after`;
}

function callsOf({ tool_calls: calls = [] }: AssistantMessage) {
  return calls.map(({ id, function: { name, arguments: input } }) => ({ id, name, input }));
}

const finishReasons = {
  stop: 'stop',
  'tool-calls': 'tool_calls',
  length: 'length',
  'content-filter': 'content_filter',
};

function completion({ text, reasoning, calls = [], finish }: ScriptedStep): object {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_790_000_000,
    model: 'gpt-test',
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          content: text ?? null,
          refusal: null,
          ...(reasoning === undefined ? {} : { reasoning_content: reasoning }),
          ...(calls.length === 0 ? {} : { tool_calls: calls.map(wireCall) }),
        },
        logprobs: null,
        finish_reason: finishReasons[finish ?? (calls.length > 0 ? 'tool-calls' : 'stop')],
      },
    ],
    usage: { prompt_tokens: 3, completion_tokens: 10, total_tokens: 13 },
  };
}

function wireCall({ id, name, input }: ScriptedCall): object {
  const text = typeof input === 'string' ? input : JSON.stringify(input);
  return { id, type: 'function', function: { name, arguments: text } };
}
