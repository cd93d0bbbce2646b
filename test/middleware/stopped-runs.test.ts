import { generateText, type ModelMessage, streamText } from 'ai';
import { expect, test } from 'vitest';
import {
  finishPart,
  type StreamPart,
  streamedModel,
  textParts,
} from '../support/streamed-model.ts';
import { type HeldModel, heldWorld, ofThread, scriptedWorld } from './held-world.ts';

const source: StreamPart = { type: 'source', sourceType: 'url', id: 's', url: 'http://x' };
const look: StreamPart = {
  type: 'tool-call',
  toolCallId: 'c1',
  toolName: 'look',
  input: '{"city":"Rome"}',
};

/** An answer that says a few words and then nothing more. */
async function* falteringAnswer(): AsyncGenerator<StreamPart> {
  yield { type: 'text-start', id: '0' };
  yield { type: 'text-delta', id: '0', delta: 'Once upon ' };
  yield { type: 'text-delta', id: '0', delta: 'a time' };
  await new Promise(() => {});
}

function falteringWorld() {
  const file: StreamPart = {
    type: 'file',
    mediaType: 'text/plain',
    data: { type: 'data', data: 'YQ==' },
  };
  const { model } = streamedModel(
    [source, file, look, finishPart('tool-calls')],
    falteringAnswer(),
    [...textParts('0', 'They slept.'), finishPart()],
  );
  return heldWorld({ model });
}

test('a stopped run ends its stream: its text is there once, and the next message is accepted', async () => {
  const { model, agent } = falteringWorld();
  const result = streamText({ model, prompt: 'Tell me a story', ...ofThread() });
  for await (const part of result.stream) {
    if (part.type === 'error') throw part.error;
    if (part.type === 'text-delta' && part.text === 'a time') {
      void agent.stop(await agent.thread('t'));
    }
  }
  const content = await result.content;
  expect(content.map(({ type }) => type).toSorted()).toEqual([
    'file',
    'source',
    'text',
    'tool-call',
    'tool-result',
  ]);
  expect([await result.text, await result.finishReason]).toEqual(['Once upon a time', 'other']);
  expect((await result.providerMetadata)?.['holdpoint']).toMatchObject({ status: 'cancelled' });
  const next = streamText({ model, prompt: 'And then?', ...ofThread() });
  expect(await next.text).toBe('They slept.');
});

test('each block of text that was begun is ended, as the protocol has it', async () => {
  const { model, agent }: { model: HeldModel; agent: ReturnType<typeof heldWorld>['agent'] } =
    falteringWorld();
  const { stream } = await model.doStream({
    prompt: [{ role: 'user', content: [{ type: 'text', text: 'Go' }] }],
    ...ofThread(),
  });
  const blocks: string[] = [];
  for await (const part of stream) {
    if (part.type === 'text-start' || part.type === 'text-end') {
      blocks.push(`${part.type} ${part.id}`);
    }
    if (part.type === 'text-delta' && part.delta === 'a time') {
      void agent.stop(await agent.thread('t'));
    }
  }
  expect(blocks).toEqual(['text-start 1.0', 'text-end 1.0']);
});

test('the same words after a stop are a new message, and get a reply', async () => {
  const begun = Promise.withResolvers<void>();
  async function* silence(): AsyncGenerator<StreamPart> {
    yield { type: 'stream-start', warnings: [] };
    begun.resolve();
    await new Promise(() => {});
  }
  const { model: inner } = streamedModel(silence(), [...textParts('0', 'Hello.'), finishPart()]);
  const { model, agent } = heldWorld({ model: inner });
  const first = streamText({ model, prompt: 'Hi', ...ofThread() });
  const reading = first.consumeStream();
  await begun.promise;
  await agent.stop(await agent.thread('t'));
  await reading;
  expect(await streamText({ model, prompt: 'Hi', ...ofThread() }).text).toBe('Hello.');
});

test('the same words as in the turn before a message that was withdrawn are a new message', async () => {
  const { model, agent, played } = scriptedWorld([
    { text: 'One.' },
    { fail: 'bad file' },
    { text: 'Two.' },
  ]);
  const said: ModelMessage[] = [{ role: 'user', content: 'Go on' }];
  const one = await generateText({ model, messages: said, ...ofThread() });
  said.push(...one.response.messages, { role: 'user', content: 'A bad file.' });
  await expect(
    generateText({ model, messages: said, maxRetries: 0, ...ofThread() }),
  ).rejects.toThrow('bad file');
  await agent.retract(await agent.thread('t'));
  said.splice(-1, 1, { role: 'user', content: 'Go on' });
  const two = await generateText({ model, messages: said, ...ofThread() });
  expect(two.text).toBe('Two.');
  expect(played.prompts.at(-1)).toHaveLength(3);
});
