import { createAgUiHandler } from 'holdpoint/ag-ui';
import { expect, test } from 'vitest';
import { memoryWorld } from '../support/travel-world.ts';
import { endOf, post, runInput, site, url, user } from './ag-ui-site.ts';
import { checkedEvents } from './checked-events.ts';

const said = runInput({ messages: [user('u1')] });

test.each(['https://evil.example', 'null', 'http://client.test:8080'])(
  'a page of %s may not run the agent, and nothing of the thread is read',
  async (origin) => {
    const at = site([{ text: 'Hello.' }]);
    const asked: string[] = [];
    const { handler } = at.worker({
      authorize: ({ threadId }) => {
        asked.push(threadId);
        return { principal: 'ann' };
      },
    });
    const response = await handler(post(said, { origin }));
    expect(response.status).toBe(403);
    expect(await response.json()).toMatchObject({ error: { code: 'foreign-origin' } });
    expect(asked).toEqual([]);
    expect((await at.agent.thread('t')).revision).toBe(0);
  },
);

test.each([
  ['a page of the same host', { origin: new URL(url).origin }, {}],
  ['a page that the app lists', { origin: 'https://app.test' }, { origins: ['https://app.test'] }],
  ['a server, which names no origin', {}, {}],
])('%s may', async (_who, headers, { origins = [] }: { origins?: string[] }) => {
  const at = site([{ text: 'Hello.' }]);
  const { handler } = at.worker({ allowedOrigins: origins });
  const response = await handler(post(said, headers));
  expect(endOf(checkedEvents(await response.text()))).toEqual({ type: 'success' });
});

test('an origin that is none is a TypeError', () => {
  const agent = memoryWorld([]).agent();
  expect(() =>
    createAgUiHandler({ agent, authorize: () => undefined, allowedOrigins: ['app'] }),
  ).toThrow(TypeError);
});
