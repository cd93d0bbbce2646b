import { z } from 'zod';
import { eventOf } from './event-stream.ts';
import type { StreamedRequest, StreamProtocol } from './provider-protocol.ts';

const answerSchema = z.looseObject({
  id: z.string(),
  created: z.number(),
  model: z.string(),
  choices: z.tuple([
    z.object({
      message: z.object({
        content: z.string().nullable(),
        reasoning_content: z.string().default(''),
        tool_calls: z
          .array(
            z.object({
              id: z.string(),
              type: z.literal('function'),
              function: z.object({ name: z.string(), arguments: z.string() }),
            }),
          )
          .default([]),
      }),
      finish_reason: z.string(),
    }),
  ]),
  usage: z.object({}).loose(),
});
type Answer = z.infer<typeof answerSchema>;
type Message = Answer['choices'][0]['message'];

const bodySchema = z.looseObject({
  stream_options: z.looseObject({ include_usage: z.boolean().default(false) }).optional(),
});

const failure = (message: string): string =>
  eventOf({ error: { message, type: 'server_error', param: null, code: null } });

/** Chat completions in events; what was used comes after the end, to those who ask for it. */
export const chatStream: StreamProtocol = { events, failure };

/** The same with what other servers do: comments that keep a connection open, and lines that end as in HTTP. */
export const compatibleChatStream: StreamProtocol = {
  *events(answer, asked) {
    yield ': processing\r\n\r\n';
    for (const event of events(answer, asked)) yield event.replaceAll('\n', '\r\n');
  },
  failure,
};

function* events(answer: object, asked: StreamedRequest): Generator<string, void, void> {
  const { choices, usage, id, created, model } = answerSchema.parse(answer);
  const chunk = (data: object): string =>
    eventOf({ id, object: 'chat.completion.chunk', created, model, ...data });
  const [{ message, finish_reason: reason }] = choices;
  const choice = (delta: object, finish_reason: string | null = null): string =>
    chunk({ choices: [{ index: 0, delta, logprobs: null, finish_reason }] });
  for (const delta of deltasOf(message, asked)) yield choice(delta);
  yield choice({}, reason);
  const { stream_options: options } = bodySchema.parse(asked.body);
  if (options?.include_usage === true) yield chunk({ choices: [], usage });
  yield 'data: [DONE]\n\n';
}

function* deltasOf(message: Message, { pieces }: StreamedRequest): Generator<object> {
  const { content, reasoning_content: reasoning, tool_calls: calls } = message;
  yield { role: 'assistant', content: content === null ? null : '', refusal: null };
  for (const piece of pieces(reasoning)) yield { reasoning_content: piece };
  for (const piece of pieces(content ?? '')) yield { content: piece };
  for (const [index, { function: called, ...call }] of calls.entries()) {
    yield { tool_calls: [{ index, ...call, function: { ...called, arguments: '' } }] };
    for (const piece of pieces(called.arguments)) {
      yield { tool_calls: [{ index, function: { arguments: piece } }] };
    }
  }
}
