import { type Agent, memoryStore } from 'holdpoint';
import { describe, expect, test } from 'vitest';
import { tryDamaged, tryRestoring } from './damage-trial.ts';
import { goldenThread } from './golden-thread.ts';

const { text, threadId, sound } = goldenThread();

describe('damage that once came out as something else than a HoldpointError:', () => {
  test.each<[string, (json: string) => string]>([
    ['bytes that are no base64', (json) => json.replace('"AQID"', '"%%%"')],
    ['a URL that is none', (json) => json.replace('https://example.com', 'no url')],
    [
      'an assistant message whose parts are no list',
      (json) => json.replace(/"content":\[\{"type":"text","text":"Two.*?\}\]/, '"content":1'),
    ],
    [
      'an assistant message with a part of null',
      (json) => json.replace('{"type":"text","text":"Two flights."}', 'null'),
    ],
    [
      'an output nested 600 deep',
      (json) => json.replace('"a flight to Paris"', `${'['.repeat(600)}${']'.repeat(600)}`),
    ],
    [
      'an output nested 100,000 deep',
      (json) => json.replace('"a flight to Paris"', `${'['.repeat(100_000)}${']'.repeat(100_000)}`),
    ],
    ['a message of an unknown role', (json) => json.replace('"role":"user"', '"role":"usar"')],
    ['a user message whose content is null', (json) => json.replace('"Book two flights"', 'null')],
  ])('%s', async (_what, damage) => {
    expect(damage(text)).not.toBe(text);
    expect((await tryRestoring(damage(text))).faults).toEqual([]);
  });
});

test('an object that JSON can not hold is refused with a code', async () => {
  const json = {
    type: 'holdpoint-thread',
    version: 1,
    threadId,
    revision: 1,
    entries: [{ v: 1, events: [{ at: 1n }], hash: '' }],
  };
  const open = async (agent: Agent) => agent.restore(json);
  expect((await tryDamaged({ store: memoryStore(), threadId, sound, open })).faults).toEqual([]);
});
