import { wrapLanguageModel } from 'ai';
import { expect, test } from 'vitest';
import { scriptedModel } from '../support/scripted-model.ts';
import { book, memoryWorld } from '../support/travel-world.ts';
import { modes } from '../support/streaming-agent.ts';

const script = [{ calls: [book('c1', 'Paris')] }, { text: 'Done.' }];

/** A model whose first response ends as its provider says. */
function endingWith(unified: 'length' | 'other', raw: string | undefined) {
  const { model } = scriptedModel(script);
  let first = true;
  const end = { unified, raw };
  return wrapLanguageModel({
    model,
    middleware: {
      specificationVersion: 'v4',
      wrapGenerate: async ({ doGenerate }) => {
        const isCut = first;
        first = false;
        const generated = await doGenerate();
        return isCut ? { ...generated, finishReason: end } : generated;
      },
      wrapStream: async ({ doStream }) => {
        const isCut = first;
        first = false;
        const { stream, ...others } = await doStream();
        const ended = stream.pipeThrough(
          new TransformStream({
            transform: (part, out) =>
              out.enqueue(isCut && part.type === 'finish' ? { ...part, finishReason: end } : part),
          }),
        );
        return { ...others, stream: ended };
      },
    },
  });
}

test.each([
  ['other', 'MALFORMED_FUNCTION_CALL', "other: the provider says 'MALFORMED_FUNCTION_CALL'"],
  ['other', undefined, 'other: the provider gives no reason'],
  ['other', 'other', 'other: the provider gives no reason'],
  ['length', 'max_tokens', "length: the provider says 'max_tokens'"],
  ['length', undefined, 'length'],
  ['other', 'x'.repeat(500), `other: the provider says '${'x'.repeat(100)}'`],
] as const)('a step that ended with %s and %s says what is known', async (unified, raw, known) => {
  for (const { speak } of modes) {
    const world = memoryWorld(script);
    const agent = speak(world.agent({ model: endingWith(unified, raw) }));
    const { thread } = await agent.run('Book', await agent.thread('t'));
    expect(thread.calls[0]?.outcome).toEqual({
      status: 'failed',
      error: `Not run: the response was cut off (${known}). Make the call again if it is still needed.`,
    });
    expect(world.ran).toEqual([]);
  }
});
