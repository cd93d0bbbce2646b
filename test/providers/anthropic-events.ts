import { z } from 'zod';
import { eventOf } from './event-stream.ts';
import type { StreamedRequest, StreamProtocol } from './provider-protocol.ts';

const block = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('thinking'), thinking: z.string(), signature: z.string() }),
  z.object({ type: z.literal('redacted_thinking'), data: z.string() }),
  z.object({
    type: z.literal('tool_use'),
    id: z.string(),
    name: z.string(),
    input: z.unknown(),
  }),
]);
type Block = z.infer<typeof block>;

const answerSchema = z.looseObject({
  content: z.array(block),
  stop_reason: z.string(),
  usage: z.object({ input_tokens: z.number(), output_tokens: z.number() }),
});

/** Anthropic's messages in events: block after block, each opened empty, filled, and closed. */
export const anthropicStream: StreamProtocol = {
  *events(answer, asked) {
    const message = answerSchema.parse(answer);
    const { content, stop_reason: reason, usage } = message;
    const begun = { content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } };
    yield named('message_start', { message: { ...message, ...begun } });
    yield named('ping', {});
    for (const [index, filled] of content.entries()) {
      yield named('content_block_start', { index, content_block: emptied(filled) });
      for (const delta of deltasOf(filled, asked))
        yield named('content_block_delta', { index, delta });
      yield named('content_block_stop', { index });
    }
    yield named('message_delta', {
      delta: { stop_reason: reason, stop_sequence: null },
      usage: { output_tokens: usage.output_tokens },
    });
    yield named('message_stop', {});
  },
  failure: (message) => named('error', { error: { type: 'overloaded_error', message } }),
};

function named(type: string, data: object): string {
  return eventOf({ type, ...data }, type);
}

function emptied(filled: Block): object {
  switch (filled.type) {
    case 'text':
      return { ...filled, text: '' };
    case 'thinking':
      return { ...filled, thinking: '', signature: '' };
    case 'tool_use':
      return { ...filled, input: {} };
    case 'redacted_thinking':
      return filled;
  }
}

function* deltasOf(filled: Block, { pieces }: StreamedRequest): Generator<object> {
  switch (filled.type) {
    case 'text':
      for (const text of pieces(filled.text)) yield { type: 'text_delta', text };
      return;
    case 'thinking':
      for (const thinking of pieces(filled.thinking)) yield { type: 'thinking_delta', thinking };
      yield { type: 'signature_delta', signature: filled.signature };
      return;
    case 'tool_use':
      yield { type: 'input_json_delta', partial_json: '' };
      for (const json of pieces(JSON.stringify(filled.input))) {
        yield { type: 'input_json_delta', partial_json: json };
      }
      return;
    case 'redacted_thinking':
  }
}
