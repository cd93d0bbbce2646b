import { type BenchModel, benchModel } from './bench-model.ts';

type Streamed = Awaited<ReturnType<BenchModel['doStream']>>;
type Part = Streamed['stream'] extends ReadableStream<infer PART> ? PART : never;

/** A model that streams its text in pieces, as many as `pieces` says then, and proposes one transfer after them. */
export function streamedModel(pieces: () => number): BenchModel {
  return { ...benchModel(1), doStream: async () => ({ stream: streamOf(parts(pieces())) }) };
}

function* parts(pieces: number): Generator<Part, void, void> {
  yield { type: 'stream-start', warnings: [] };
  yield { type: 'text-start', id: '0' };
  for (let index = 0; index < pieces; index += 1) {
    yield { type: 'text-delta', id: '0', delta: 'word ' };
  }
  yield { type: 'text-end', id: '0' };
  yield {
    type: 'tool-call',
    toolCallId: 'call-0',
    toolName: 'transfer',
    input: '{"from":"savings","to":"account-0","amount":250}',
  };
  yield {
    type: 'finish',
    finishReason: { unified: 'tool-calls', raw: undefined },
    usage: {
      inputTokens: { total: 3, noCache: 3, cacheRead: undefined, cacheWrite: undefined },
      outputTokens: { total: 10, text: 10, reasoning: undefined },
    },
  };
}

function streamOf(source: Iterator<Part, void>): Streamed['stream'] {
  return new ReadableStream({
    pull(controller) {
      const { done, value } = source.next();
      if (done === true) controller.close();
      else controller.enqueue(value);
    },
  });
}
