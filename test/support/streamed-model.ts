import { MockLanguageModelV4 } from 'ai/test';

type StreamResult = Awaited<ReturnType<MockLanguageModelV4['doStream']>>;
/** One part of a provider's stream. */
export type StreamPart = StreamResult['stream'] extends ReadableStream<infer PART> ? PART : never;

const usage = {
  inputTokens: { total: 3, noCache: 2, cacheRead: 1, cacheWrite: undefined },
  outputTokens: { total: 10, text: 7, reasoning: 3 },
};

/** The last part of an answer. */
export function finishPart(
  unified: 'stop' | 'tool-calls' | 'length' | 'interrupted' = 'stop',
): StreamPart {
  return { type: 'finish', usage, finishReason: { unified, raw: undefined } };
}

/** A block of text, a delta for each of `deltas`. */
export function textParts(id: string, ...deltas: string[]): StreamPart[] {
  return [
    { type: 'text-start', id },
    ...deltas.map((delta): StreamPart => ({ type: 'text-delta', id, delta })),
    { type: 'text-end', id },
  ];
}

/** Parts by the request they answer; each may be a source that takes its time or fails. */
export type Answers = (Iterable<StreamPart> | AsyncIterable<StreamPart> | Error)[];

/** A model that streams its answers, a part when it is asked for one, and what became of the streams. */
export function streamedModel(...answers: Answers) {
  const heard = { requests: 0, parts: 0, cancelled: 0 };
  const model = new MockLanguageModelV4({
    async doStream() {
      const answer = answers[heard.requests] ?? [];
      heard.requests += 1;
      if (answer instanceof Error) throw answer;
      return { stream: streamOf(answer, heard) };
    },
  });
  return { model, heard };
}

function streamOf(
  answer: Iterable<StreamPart> | AsyncIterable<StreamPart>,
  heard: { parts: number; cancelled: number },
): StreamResult['stream'] {
  const parts =
    Symbol.asyncIterator in answer ? answer[Symbol.asyncIterator]() : answer[Symbol.iterator]();
  return new ReadableStream(
    {
      async pull(controller) {
        const next = await parts.next();
        if (next.done === true) return controller.close();
        heard.parts += 1;
        controller.enqueue(next.value);
      },
      cancel() {
        heard.cancelled += 1;
      },
    },
    { highWaterMark: 0 },
  );
}
