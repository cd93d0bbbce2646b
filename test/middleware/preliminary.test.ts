import { generateText, streamText, tool, ToolLoopAgent } from 'ai';
import { inertTools } from 'holdpoint/middleware';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { eventsIn } from '../support/events-in.ts';
import { chatServer, toolParts } from './chat-world.ts';
import { answering, ofThread, requestsIn, scriptedWorld } from './held-world.ts';

const search = tool({
  inputSchema: z.object({}),
  async *execute() {
    for (const found of ['a page', null, 'all pages']) {
      yield { found };
      /* The stream's reader comes in between. */
      await new Promise(setImmediate);
    }
  },
});

const call = { id: 'c1', name: 'search', input: {} };

function searching(toolApproval: { search?: 'user-approval' } = {}) {
  const script = [{ text: 'I search.', calls: [call] }, { text: 'Found.' }];
  return scriptedWorld(script, { tools: { search }, toolApproval });
}

/** What a reader of a stream sees of results, preliminary ones first. */
async function resultsIn({
  stream,
}: Pick<ReturnType<typeof streamText>, 'stream'>): Promise<unknown[]> {
  const results: unknown[] = [];
  for await (const part of stream) {
    if (part.type === 'error') throw part.error;
    if (part.type === 'raw') results.push(part.rawValue);
    if (part.type === 'tool-result') results.push(part.output);
  }
  return results;
}

const yielded = ['a page', null, 'all pages'].map((found) => ({
  type: 'tool-result',
  preliminary: true,
  toolCallId: 'c1',
  toolName: 'search',
  input: {},
  output: { found },
}));
const last = { found: 'all pages' };
const include = { rawChunks: true };

describe.each(['none', 'inert'])('a generator behind holdPoint, tools of the call: %s', (kind) => {
  const toolsOf = (world: ReturnType<typeof searching>) =>
    kind === 'inert' ? { tools: inertTools(world.tools) } : {};

  test('what it yields on its way comes out of streamText, and is recorded nowhere', async () => {
    const world = searching();
    const { model, store } = world;
    const asked = { model, prompt: 'Search', ...toolsOf(world), ...ofThread() };
    const result = streamText({ ...asked, include });
    expect(await resultsIn(result)).toEqual([...yielded, last]);
    const recorded = [await eventsIn(store, 't'), await result.responseMessages];
    expect(JSON.stringify(recorded)).not.toContain('a page');
  });

  test('it does so where it was approved, too', async () => {
    const world = searching({ search: 'user-approval' });
    const { model } = world;
    const asked = await generateText({ model, prompt: 'Search', ...toolsOf(world), ...ofThread() });
    const messages = [
      { role: 'user' as const, content: 'Search' },
      ...asked.responseMessages,
      answering(requestsIn(asked.content)),
    ];
    const again = { model, messages, ...toolsOf(world), ...ofThread() };
    expect(await resultsIn(streamText({ ...again, include }))).toEqual([...yielded, last]);
  });

  test('without raw chunks, and from generateText, the result comes alone', async () => {
    for (const ask of ['stream', 'generate'] as const) {
      const world = searching();
      const asked = { prompt: 'Search' };
      const agent = new ToolLoopAgent({ model: world.model, ...toolsOf(world), ...ofThread() });
      const result = ask === 'stream' ? await agent.stream(asked) : await agent.generate(asked);
      if ('stream' in result) await result.consumeStream();
      const content = await result.content;
      expect(content.filter(({ type }) => type === 'tool-result')).toMatchObject([
        { output: last },
      ]);
    }
  });

  test('a page never takes what was yielded on the way for the result', async () => {
    const world = searching();
    const chat = chatServer(world.model, kind === 'inert' ? inertTools(world.tools) : {}).chat();
    const seen: unknown[] = [];
    const stop = chat['~registerMessagesCallback'](() => {
      const [card] = toolParts(chat);
      if (card?.state === 'output-available') seen.push(card.output);
    });
    await chat.sendMessage({ text: 'Search' });
    stop();
    expect(new Set(seen.map((output) => JSON.stringify(output)))).toEqual(
      new Set([JSON.stringify(last)]),
    );
  });
});

test('a message that is sent again gets the result of a generator, and nothing of its way', async () => {
  const { model } = searching();
  const asked = { model, prompt: 'Search', include, ...ofThread('t', { messageId: 'm1' }) };
  await streamText(asked).consumeStream();
  expect(await resultsIn(streamText(asked))).toEqual([last]);
});
