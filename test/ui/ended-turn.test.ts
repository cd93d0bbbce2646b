import { expect, test } from 'vitest';
import { finishPart, textParts } from '../support/streamed-model.ts';
import { chunksOf, post } from './chat-page.ts';
import { streamingSite } from './streaming-site.ts';

const says = (text: string) => [...textParts('0', text), finishPart()];
const asks = (id: string, text: string) =>
  post({ id: 't', message: { id, role: 'user', parts: [{ type: 'text', text }] } });

test('a message that is posted again after its turn has ended adds nothing, and its turn is told to its end', async () => {
  const at = streamingSite([says('Paris.'), says('In May.')]);
  const first = await chunksOf(await at.handler(asks('u1', 'Where?')));
  const { revision } = await at.agent.thread('t');
  const again = await chunksOf(await at.handler(asks('u1', 'Where?')));
  expect(again.find(({ type }) => type === 'start')?.['messageId']).toBe(
    first.find(({ type }) => type === 'start')?.['messageId'],
  );
  expect(again.filter(({ type }) => type === 'text-delta')).toMatchObject([{ delta: 'Paris.' }]);
  expect(again.at(-1)).toMatchObject({ type: 'finish', messageMetadata: { status: 'idle' } });
  expect((await at.agent.thread('t')).revision).toBe(revision);
});

test('also when the conversation has gone on since: of the later turn it is told nothing', async () => {
  const at = streamingSite([says('Paris.'), says('In May.')]);
  await chunksOf(await at.handler(asks('u1', 'Where?')));
  await chunksOf(await at.handler(asks('u2', 'When?')));
  const { revision } = await at.agent.thread('t');
  const again = await chunksOf(await at.handler(asks('u1', 'Where?')));
  expect(again.filter(({ type }) => type === 'text-delta')).toMatchObject([{ delta: 'Paris.' }]);
  expect(again.at(-1)).toMatchObject({ type: 'finish', messageMetadata: { status: 'idle' } });
  expect((await at.agent.thread('t')).revision).toBe(revision);
  expect(at.heard.requests).toBe(2);
});
