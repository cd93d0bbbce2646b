import { generateText, streamText, type ModelMessage } from 'ai';
import { test } from 'vitest';
import { scriptedModel } from '../support/scripted-model.ts';
import { book, look } from '../support/travel-world.ts';
import { answersTo, heldWorld, ofThread } from './held-world.ts';

test('gen', async () => {
  const played = scriptedModel([{ reasoning: 'hm', text: 'Let me.', calls: [book('c1', 'Paris'), look('c2', 'Rome')] }, { text: 'Booked.' }, {text: 'again'}]);
  const { model, ran } = heldWorld(played);
  const messages: ModelMessage[] = [{ role: 'user', content: 'Book' }];
  const first = await generateText({ model, messages, instructions: 'Be nice', ...ofThread() });
  console.log(JSON.stringify(first.content, null, 1), first.finishReason, first.usage, JSON.stringify(first.providerMetadata), JSON.stringify(first.responseMessages));
  messages.push(...first.responseMessages, ...answersTo(first.content));
  const second = await generateText({ model, messages, ...ofThread() });
  console.log(JSON.stringify(second.content, null, 1), second.finishReason, second.text, JSON.stringify(second.providerMetadata), ran);
  const third = await generateText({ model, messages, ...ofThread() });
  console.log(JSON.stringify(third.content, null, 1), third.finishReason, third.text, played.requests);
});
test('stream', async () => {
  const played = scriptedModel([{ reasoning: 'hm', text: 'Let me.', calls: [book('c1', 'Paris'), look('c2', 'Rome')] }, { text: 'Booked.' }, {text: 'again'}]);
  const { model, ran } = heldWorld(played);
  const messages: ModelMessage[] = [{ role: 'user', content: 'Book' }];
  const first = streamText({ model, messages, instructions: 'Be nice', ...ofThread() });
  for await (const part of first.stream) console.log(JSON.stringify(part).slice(0,200));
  messages.push(...(await first.responseMessages), ...answersTo(await first.content));
  const second = streamText({ model, messages, ...ofThread() });
  for await (const part of second.stream) console.log(JSON.stringify(part).slice(0, 200));
  console.log(ran);
});
