import { generateText, wrapLanguageModel } from 'ai';
import { scriptedModel } from 'holdpoint/testing';
import { expect, test } from 'vitest';

test('a scripted model can be wrapped, and used without an agent, like any model of the AI SDK', async () => {
  const { model, prompts } = scriptedModel([{ text: 'Hello.' }]);
  const { text } = await generateText({
    model: wrapLanguageModel({ model, middleware: {} }),
    prompt: 'Hi',
  });
  expect(text).toBe('Hello.');
  expect(prompts).toHaveLength(1);
});
