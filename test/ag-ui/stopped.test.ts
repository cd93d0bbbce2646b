import { createAgent, memoryStore } from 'holdpoint';
import { createAgUiHandler } from 'holdpoint/ag-ui';
import { expect, test } from 'vitest';
import {
  finishPart,
  type StreamPart,
  streamedModel,
  textParts,
} from '../support/streamed-model.ts';
import { client, endOf } from './ag-ui-site.ts';
import { olderClient } from './older-client.ts';

const authorize = () => ({ principal: 'ann' });

/** A route to a model that says a few words and then nothing more, and then answers. */
function falteringSite() {
  const said = Promise.withResolvers<void>();
  async function* falteringAnswer(): AsyncGenerator<StreamPart> {
    yield { type: 'text-start', id: '0' };
    yield { type: 'text-delta', id: '0', delta: 'Once upon' };
    said.resolve();
    await new Promise(() => {});
  }
  const again = [...textParts('0', 'They slept.'), finishPart()];
  const { model } = streamedModel(falteringAnswer(), again);
  const agent = createAgent({ model, store: memoryStore() });
  const handler = createAgUiHandler({ agent, authorize, keepAliveMs: 0 });
  const stop = async (): Promise<void> => {
    await said.promise;
    await agent.stop(await agent.thread('t'));
  };
  return { handler, stop };
}

const conversation = [
  { role: 'user', content: 'Tell me a story' },
  { role: 'assistant', content: 'Once upon' },
  { role: 'user', content: 'And then?' },
  { role: 'assistant', content: 'They slept.' },
];

test('a run that is stopped ends for its client, which keeps what was said, and can go on', async () => {
  const { handler, stop } = falteringSite();
  const visitor = client(handler);
  const [events] = await Promise.all([visitor.say('Tell me a story'), stop()]);
  expect(endOf(events)).toEqual({ type: 'cancelled' });
  expect(endOf(await visitor.say('And then?'))).toEqual({ type: 'success' });
  expect(visitor.agent.messages).toMatchObject(conversation);
});

test('a client before 1.0 reads such a run to its end, too', async () => {
  const { handler, stop } = falteringSite();
  const visitor = olderClient(handler);
  const [{ result }] = await Promise.all([visitor.say('Tell me a story'), stop()]);
  expect(result).toEqual({ status: 'cancelled' });
  await visitor.say('And then?');
  expect(visitor.agent.messages).toMatchObject(conversation);
});
