import type { IncomingHttpHeaders } from 'node:http';
import type { ScriptedCall, ScriptedStep } from '../support/script.ts';
import { anthropicStream } from './anthropic-events.ts';
import { type AnthropicMessage, anthropicRequestSchema } from './anthropic-request.ts';
import { AnthropicThinking } from './anthropic-thinking.ts';
import { checkRequest } from './check-request.ts';
import type { ProviderProtocol } from './provider-protocol.ts';

/** Anthropic's messages. */
export function anthropicMessages(): ProviderProtocol {
  const thinking = new AnthropicThinking();
  return {
    path: '/v1/messages',
    violations: (body, headers) => [
      ...headerViolations(headers),
      ...checkRequest(body, anthropicRequestSchema, function* ({ messages }) {
        yield* turnViolations(messages);
        yield* resultViolations(messages);
        yield* thinking.violations(messages);
      }),
    ],
    answer: (step) => answer(step, thinking),
    stream: anthropicStream,
    refusal: (message) => ({
      type: 'error',
      error: { type: 'invalid_request_error', message },
      request_id: 'req_1',
    }),
  };
}

function headerViolations(headers: IncomingHttpHeaders): string[] {
  return ['anthropic-version', 'x-api-key']
    .filter((name) => headers[name] === undefined)
    .map((name) => `the header ${name} is required`);
}

function* turnViolations(messages: readonly AnthropicMessage[]): Generator<string> {
  if (messages[0]?.role !== 'user') yield 'messages.0: the first message must be the user’s';
  if (messages.at(-1)?.role !== 'user') yield 'the last message must not be the assistant’s';
  for (const [index, { role }] of messages.entries()) {
    if (role === messages[index - 1]?.role) yield `messages.${index}: roles must alternate`;
  }
}

/** The results of an assistant message's calls are what the next message begins with, one for each call. */
function* resultViolations(messages: readonly AnthropicMessage[]): Generator<string> {
  const used = new Set<string>();
  for (const [index, message] of messages.entries()) {
    const asked = idsOf(messages[index - 1], 'tool_use');
    const results = idsOf(message, 'tool_result');
    for (const id of idsOf(message, 'tool_use')) {
      if (used.has(id)) yield `messages.${index}: tool_use id ${id} was used before`;
      used.add(id);
    }
    for (const id of asked.filter((asking) => !results.includes(asking))) {
      yield `messages.${index}: tool_use ${id} of the message before has no result`;
    }
    for (const [place, id] of results.entries()) {
      if (!asked.includes(id))
        yield `messages.${index}: there is no tool_use ${id} right before it`;
      if (results.indexOf(id) < place) yield `messages.${index}: tool_use ${id} has two results`;
    }
    if (!isFirst(message, results.length)) yield `messages.${index}: results must come first`;
  }
}

function idsOf({ content }: AnthropicMessage = { role: 'user', content: '' }, type: string) {
  if (typeof content === 'string') return [];
  return content.flatMap((block) => {
    if (block.type !== type) return [];
    if (block.type === 'tool_use') return [block.id];
    return block.type === 'tool_result' ? [block.tool_use_id] : [];
  });
}

function isFirst({ content }: AnthropicMessage, results: number): boolean {
  if (typeof content === 'string') return true;
  const types: string[] = content.map(({ type }) => type);
  return types.slice(0, results).every((type) => type === 'tool_result');
}

const stopReasons = {
  stop: 'end_turn',
  'tool-calls': 'tool_use',
  length: 'max_tokens',
  'content-filter': 'refusal',
};

function answer(step: ScriptedStep, thinking: AnthropicThinking): object {
  const { text = '', calls = [], finish } = step;
  return {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-test',
    content: [
      ...thinking.give(step),
      ...(text === '' ? [] : [{ type: 'text', text }]),
      ...calls.map(wireCall),
    ],
    stop_reason: stopReasons[finish ?? (calls.length > 0 ? 'tool-calls' : 'stop')],
    stop_sequence: null,
    usage: { input_tokens: 3, output_tokens: 10 },
  };
}

function wireCall({ id, name, input }: ScriptedCall): object {
  const value: unknown = typeof input === 'string' ? JSON.parse(input) : input;
  return { type: 'tool_use', id, name, input: value };
}
