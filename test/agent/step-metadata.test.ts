import { wrapLanguageModel } from 'ai';
import { createAgent, memoryStore, type AgentOptions } from 'holdpoint';
import { expect, test } from 'vitest';
import { scriptedModel } from '../support/scripted-model.ts';

const source = {
  type: 'source',
  sourceType: 'url',
  id: 's1',
  url: 'https://example.com/paris',
  title: 'Paris',
} as const;
const providerMetadata = { acme: { cacheHits: 3, region: 'eu' } };

/** A model that cites a source, and whose provider has an id and notes for each answer. */
function citingModel(): AgentOptions['model'] {
  const { model } = scriptedModel([{ text: 'It rains in Paris.' }], { repeat: true });
  if (typeof model === 'string' || model.specificationVersion !== 'v4') throw new Error('not v4');
  return wrapLanguageModel({
    model,
    middleware: {
      specificationVersion: 'v4',
      async wrapGenerate({ doGenerate }) {
        const answer = await doGenerate();
        const content = [...answer.content, source];
        return { ...answer, content, providerMetadata, response: { id: 'resp_42' } };
      },
      async wrapStream({ doStream }) {
        const { stream, ...rest } = await doStream();
        const noting = new TransformStream({
          transform(part, controller) {
            if (part.type === 'stream-start') {
              controller.enqueue(part);
              controller.enqueue({ type: 'response-metadata', id: 'resp_42' });
            } else if (part.type === 'finish') {
              controller.enqueue(source);
              controller.enqueue({ ...part, providerMetadata });
            } else controller.enqueue(part);
          },
        });
        return { ...rest, stream: stream.pipeThrough(noting) };
      },
    },
  });
}

test.each(['run', 'stream'] as const)(
  'what the provider returned with a step is in the log and in the response of %s',
  async (how) => {
    const store = memoryStore();
    const agent = createAgent({ model: citingModel(), store });
    const thread = await agent.thread('t');
    const response =
      how === 'run'
        ? await agent.run('Weather?', thread)
        : await agent.stream('Weather?', thread).response;
    expect(response.sources).toEqual([source]);
    expect(response.providerMetadata).toEqual(providerMetadata);
    expect(response.response).toMatchObject({ id: 'resp_42' });
    const elsewhere = createAgent({ model: citingModel(), store });
    const { events } = await elsewhere.thread('t');
    expect(events.find(({ type }) => type === 'step-finished')).toMatchObject({
      metadata: { sources: [source], providerMetadata, response: { id: 'resp_42' } },
    });
  },
);

test('an id that the AI SDK made up, as the provider gave none, is not kept', async () => {
  const { model } = scriptedModel([{ text: 'Hello.' }]);
  const agent = createAgent({ model, store: memoryStore() });
  const { response, sources } = await agent.run('Hi', await agent.thread('t'));
  expect(response).not.toHaveProperty('id');
  expect(sources).toEqual([]);
});
