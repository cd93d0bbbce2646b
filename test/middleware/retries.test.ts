import { generateText, streamText } from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import { describe, expect, test } from 'vitest';
import { eventsIn } from '../support/events-in.ts';
import { errorCode } from '../support/error-code.ts';
import { overloaded } from '../support/overloaded.ts';
import {
  finishPart,
  type StreamPart,
  streamedModel,
  textParts,
} from '../support/streamed-model.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import type { ScriptedStep } from '../support/script.ts';
import { book, look } from '../support/travel-world.ts';
import {
  answering,
  type HeldModel,
  heldWorld,
  modelOf,
  ofThread,
  requestsIn,
  ways,
} from './held-world.ts';
import { pickCases } from '../support/sampling.ts';

/** A model that plays `script`, but whose requests fail at the given turns, counted from 1. */
function flaky(script: ScriptedStep[], ...failing: number[]) {
  const played = modelOf(scriptedModel(script));
  if (typeof played === 'string' || played.specificationVersion !== 'v4') throw new Error('v4');
  const heard = { requests: 0 };
  const answer = async <ANSWER>(work: () => PromiseLike<ANSWER>): Promise<ANSWER> => {
    heard.requests += 1;
    if (failing.includes(heard.requests)) throw overloaded();
    return work();
  };
  const model = new MockLanguageModelV4({
    doGenerate: async (params) => answer(async () => played.doGenerate(params)),
    doStream: async (params) => answer(async () => played.doStream(params)),
  });
  return { model, heard };
}

function* brokenOff(): Generator<StreamPart> {
  yield* textParts('0', 'One ').slice(0, 2);
  throw overloaded();
}

const user = (content: string) => ({ role: 'user' as const, content });

describe.each(pickCases(ways))('with $name', (way) => {
  test.each([0, 1, 3])(
    'maxRetries of the call (%o) is how often a model that can not be reached is tried again',
    async (maxRetries) => {
      const { model: inner, heard } = flaky([], 1, 2, 3, 4, 5, 6);
      const { model } = heldWorld({ model: inner }, { maxRetries: 2 });
      const call = way.ask({ model, messages: [user('Hi')], maxRetries, ...ofThread() });
      await expect(call).rejects.toThrow('overloaded');
      expect(heard.requests).toBe(1 + maxRetries);
    },
  );

  test('a call that is tried again is one message and one reply', async () => {
    const { model: inner, heard } = flaky([{ text: 'Hello.' }], 1, 2);
    const { model, agent } = heldWorld({ model: inner });
    const got = await way.ask({ model, messages: [user('Hi')], maxRetries: 2, ...ofThread() });
    expect([got.text, heard.requests]).toEqual(['Hello.', 3]);
    expect((await agent.thread('t')).messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
    ]);
  });

  test('what failed while the AI SDK tries again is left to it: no worker takes the thread meanwhile', async () => {
    const { model: inner } = flaky([], 1);
    const { model, store, agent } = heldWorld({ model: inner });
    await errorCode(way.ask({ model, messages: [user('Hi')], ...ofThread() }));
    const failed = (await eventsIn(store, 't')).find(({ type }) => type === 'run-ended');
    const { nextDeadline = 0 } = await agent.thread('t');
    /* The AI SDK waits for 2 seconds, then 4, then 8. */
    expect(nextDeadline - (failed?.at ?? 0)).toBeGreaterThan(2_500);
  });

  test('a later model request is retried by the run: no text is lost', async () => {
    const { model: inner, heard } = flaky(
      [{ text: 'I look.', calls: [look('c1', 'Rome')] }, { text: 'Seen.' }],
      2,
      3,
    );
    const { model, ran } = heldWorld({ model: inner }, { maxRetries: 2 });
    const got = await way.ask({ model, messages: [user('Look')], ...ofThread() });
    expect(got.text).toContain('Seen.');
    expect(got.content.map(({ type }) => type)).toContain('tool-result');
    expect(ran).toHaveLength(1);
    expect(heard.requests).toBe(4);
  });

  test('an approved call that ran before the model failed is run once, and its result comes out', async () => {
    const { model: inner } = flaky([{ calls: [book('c1', 'Paris')] }, { text: 'Booked.' }], 2);
    const { model, ran } = heldWorld({ model: inner }, { maxRetries: 1 });
    const messages = [user('Book')];
    const asked = await way.ask({ model, messages, ...ofThread() });
    const answered = [...messages, ...asked.responseMessages, answering(requestsIn(asked.content))];
    const got = await way.ask({ model, messages: answered, maxRetries: 1, ...ofThread() });
    expect(got.text).toBe('Booked.');
    expect(got.content.find(({ type }) => type === 'tool-result')).toMatchObject({
      output: { booked: 'Paris' },
    });
    expect(ran).toHaveLength(1);
  });

  test('a call that can not be right is refused at once, however many retries it has', async () => {
    const { model: inner, heard } = flaky([{ calls: [book('c1', 'Paris')] }]);
    const { model } = heldWorld({ model: inner });
    await way.ask({ model, messages: [user('Book')], ...ofThread() });
    const again = way.ask({ model, messages: [user('No')], maxRetries: 5, ...ofThread() });
    expect(await errorCode(again)).toBe('requests-open');
    expect(heard.requests).toBe(1);
  });
});

test('maxRetries counts where nothing says how often: the AI SDK tries three times in all', async () => {
  const { model: inner, heard } = flaky([], 1, 2, 3, 4);
  const { model }: { model: HeldModel } = heldWorld({ model: inner });
  await expect(generateText({ model, prompt: 'Hi', ...ofThread() })).rejects.toThrow('overloaded');
  expect(heard.requests).toBe(3);
});

test('an answer that breaks off is not begun again by the AI SDK: what was read stands', async () => {
  const { model: inner, heard } = streamedModel(brokenOff(), [
    ...textParts('0', 'Again.'),
    finishPart(),
  ]);
  const { model } = heldWorld({ model: inner });
  const errors: unknown[] = [];
  const result = streamText({
    model,
    prompt: 'Hi',
    maxRetries: 3,
    ...ofThread(),
    onError: ({ error }) => void errors.push(error),
  });
  await result.consumeStream();
  expect(errors).toMatchObject([{ message: 'overloaded' }]);
  expect(heard.requests).toBe(1);
});
