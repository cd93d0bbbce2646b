import type { ThreadStore } from 'holdpoint';
import { describe, expect, test } from 'vitest';
import { everyStore, storeOfEach } from '../support/every-store.ts';
import { pickCases } from '../support/sampling.ts';

type Ask = (store: ThreadStore, text: string) => Promise<unknown> | undefined;

const due = { dueBefore: 1, until: 2, limit: 1 };
const asks: [what: string, named: string, ask: Ask][] = [
  ['a list of threads', 'agent', async (store, agent) => store.list({ agent })],
  ['a count of threads', 'agent', async (store, agent) => store.count({ agent })],
  ['a claim', 'agent', async (store, agent) => store.claim({ agent, ...due })],
  ['standing approvals', 'agent', async (store, agent) => store.grants?.list({ agent })],
  ['a list of requests', 'agent', async (store, agent) => store.requests?.list({ agent })],
  ['a count of requests', 'agent', async (store, agent) => store.requests?.count({ agent })],
  [
    'an agent’s open requests',
    'agent',
    async (store, agent) => store.requests?.list({ agent, state: 'open' }),
  ],
  [
    'a thread’s requests',
    'threadId',
    async (store, threadId) => store.requests?.list({ threadId }),
  ],
  // @ts-expect-error -- a status from a client
  ['threads of a status', 'status', async (store, status) => store.list({ status })],
];

describe.each(everyStore())('$name', ({ start }) => {
  const open = storeOfEach(start);

  test.each(pickCases(asks, 3))(
    '%s by a text that no %s can have is refused by name',
    async (_, named, ask) => {
      for (const text of ['a\0', '\0', 'a\uD800']) {
        const asked = ask(open(), text);
        await expect(asked).rejects.toThrow(TypeError);
        await expect(asked).rejects.toThrow(
          `${named} has a NUL character or half a surrogate pair`,
        );
      }
      const found = named === 'status' ? 0 : await ask(open(), 'a');
      expect([0, []]).toContainEqual(found);
    },
  );
});
