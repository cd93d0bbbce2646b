import { readUIMessageStream, streamText, toUIMessageStream, type UIMessage } from 'ai';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { generatedStep } from '../support/generated-steps.ts';
import {
  finishPart,
  streamedModel,
  type StreamPart,
  textParts,
} from '../support/streamed-model.ts';
import { chunksOf, openApprovals, origin } from './chat-page.ts';
import { call, city, streamingSite } from './streaming-site.ts';
import { countTrials, triesAll } from '../support/sampling.ts';

const page: StreamPart = {
  type: 'source',
  sourceType: 'url',
  id: 's1',
  url: 'https://example.com/paris',
  title: 'Paris',
  providerMetadata: { acme: { rank: 1 } },
};
const untitled: StreamPart = {
  type: 'source',
  sourceType: 'url',
  id: 's2',
  url: 'https://example.com/rain',
};
const paper: StreamPart = {
  type: 'source',
  sourceType: 'document',
  id: 's3',
  mediaType: 'application/pdf',
  title: 'Rain in Paris',
  filename: 'rain.pdf',
};
const citing = (): StreamPart[] => [
  page,
  ...textParts('0', 'It rains.'),
  untitled,
  ...textParts('1', 'A lot.'),
  paper,
  finishPart(),
];

const json = (messages: unknown): unknown => JSON.parse(JSON.stringify(messages));

function sourcesOf(messages: readonly UIMessage[]): unknown {
  return json(
    messages.flatMap(({ parts }) => parts.filter(({ type }) => type.startsWith('source-'))),
  );
}

test('a page shows what the model cited, as the AI SDK shows it, live and loaded', async () => {
  const at = streamingSite([citing()]);
  await at.chat.sendMessage({ text: 'Weather?' });
  const { stream } = streamText({ model: streamedModel(citing()).model, prompt: 'Weather?' });
  const told = toUIMessageStream({ stream, sendSources: true });
  const shown: UIMessage[] = [];
  for await (const message of readUIMessageStream({ stream: told })) shown[0] = message;
  expect(sourcesOf(at.chat.messages)).toEqual(sourcesOf(shown));
  expect(sourcesOf(await at.reloaded())).toEqual(sourcesOf(shown));
  const loaded = await at.handler(new Request(`${origin}/chat?id=t`));
  const { messages }: { messages: UIMessage[] } = JSON.parse(await loaded.text());
  expect(sourcesOf(messages)).toEqual(sourcesOf(shown));
});

function kinds(messages: readonly UIMessage[]): unknown {
  return messages.at(-1)?.parts.map(({ type }) => type);
}

test('sources stand below the step that cites them, live and loaded', async () => {
  const at = streamingSite([citing()]);
  await at.chat.sendMessage({ text: 'Weather?' });
  expect(kinds(at.chat.messages)).toEqual([
    'step-start',
    'text',
    'text',
    'source-url',
    'source-url',
    'source-document',
  ]);
  expect(kinds(await at.reloaded())).toEqual(kinds(at.chat.messages));
});

test('a text that is told is not told again for the sources around it', async () => {
  const at = streamingSite([citing()]);
  await at.chat.sendMessage({ text: 'Weather?' });
  const again = await chunksOf(await at.handler(new Request(`${origin}/chat?id=t&stream`)));
  expect(again.map(({ type }) => type)).not.toContain('reset-step');
  expect(again.filter(({ type }) => type.startsWith('source-'))).toHaveLength(3);
});

test('where the app wants no sources there are none, live and loaded', async () => {
  const at = streamingSite([citing()], { sendSources: false });
  await at.chat.sendMessage({ text: 'Weather?' });
  expect(sourcesOf(at.chat.messages)).toEqual([]);
  expect(sourcesOf(await at.reloaded())).toEqual([]);
});

test('the sources of a step that broke off are not shown, and those of its retry are', async () => {
  const broken: StreamPart[] = [page, { type: 'error', error: new Error('overloaded') }];
  const at = streamingSite([broken, [...textParts('0', 'Yes.'), paper, finishPart()]]);
  await at.chat.sendMessage({ text: 'Rain?' });
  expect(sourcesOf(at.chat.messages)).toEqual([]);
  await at.chat.regenerate();
  await at.quiet();
  expect(sourcesOf(at.chat.messages)).toMatchObject([{ sourceId: 's3' }]);
  expect(sourcesOf(await at.reloaded())).toEqual(sourcesOf(at.chat.messages));
});

test('a file that the model made has what its provider noted on it, live and loaded', async () => {
  const notes = { acme: { seed: 7 } };
  const file = {
    type: 'file',
    mediaType: 'image/png',
    data: { type: 'data', data: 'aGk=' },
    providerMetadata: notes,
  } as const;
  const at = streamingSite([[file, ...textParts('0', 'Here.'), finishPart()]]);
  await at.chat.sendMessage({ text: 'Draw' });
  const parts = at.chat.messages.at(-1)?.parts ?? [];
  expect(parts.find(({ type }) => type === 'file')).toEqual({
    type: 'file',
    mediaType: 'image/png',
    url: 'data:image/png;base64,aGk=',
    providerMetadata: notes,
  });
  expect(json((await at.reloaded()).at(-1)?.parts)).toEqual(json(parts));
});

test('a page shows the same live and loaded, sources included, whatever the model says', async () => {
  let sources = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(generatedStep, { minLength: 1, maxLength: 3 }), async (steps) => {
      const end = [...textParts('0', 'End.'), finishPart()];
      const at = streamingSite([...steps, end, end]);
      await at.chat.sendMessage({ text: 'Go' });
      /* All of them: a page of useChat sends its answers once it has one for each. */
      for (const id of openApprovals(at.chat.messages)) await at.respond(id, true);
      const shown = at.chat.messages.filter(({ role }) => role === 'assistant');
      const loaded = (await at.reloaded()).filter(({ role }) => role === 'assistant');
      expect(json(shown)).toEqual(json(loaded));
      sources += shown
        .flatMap(({ parts }) => parts)
        .filter(({ type }) => type === 'source-url').length;
    }),
    { numRuns: countTrials(150) },
  );
  expect(sources).toBeGreaterThanOrEqual(triesAll ? 11 : 0);
});

test('two calls of two steps with one id are two parts, live and loaded', async () => {
  const own = { toolCallId: 'c1', toolName: 'search', dynamic: true } as const;
  const searched: StreamPart[] = [
    { type: 'tool-call', ...own, input: '{}', providerExecuted: true },
    { type: 'tool-result', ...own, result: 'Rain.' },
    ...textParts('0', 'It rains.'),
    finishPart(),
  ];
  const at = streamingSite([[...call('c1', 'look', city), finishPart('tool-calls')], searched]);
  await at.chat.sendMessage({ text: 'Weather?' });
  const shown = ['step-start', 'tool-look', 'step-start', 'tool-search', 'text'];
  expect(kinds(at.chat.messages)).toEqual(shown);
  expect(kinds(await at.reloaded())).toEqual(shown);
});
