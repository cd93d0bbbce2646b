import { askConfirmation } from 'holdpoint/tools';
import { expect, test } from 'vitest';
import { book, travelTools } from '../support/travel-world.ts';
import { ofThread, scriptedWorld, ways } from './held-world.ts';

const ann = { id: 'ann', roles: ['buyer'] };
const asks = [{ id: 'q1', name: 'ask', input: { question: 'Sure?' } }];

test.each(ways)('$name: what comes out as a request says who asked for it', async (way) => {
  const { model } = scriptedWorld([{ calls: [book('c1', 'Paris')] }, { calls: asks }], {
    tools: { ...travelTools([]), ask: askConfirmation() },
  });
  const messages = [{ role: 'user' as const, content: 'Go' }];
  for (const threadId of ['a', 'b']) {
    const asked = { model, messages, ...ofThread(threadId, { principal: ann }) };
    expect((await way.ask(asked)).providerMetadata).toMatchObject({
      holdpoint: { requests: [{ requestedBy: ann }] },
    });
  }
});
