import { createHash } from 'node:crypto';
import { DatabaseSync } from 'node:sqlite';
import { createAgent, type ThreadStore } from 'holdpoint';
import { expect, test } from 'vitest';
import { rechainedJson } from '../support/chained.ts';
import { errorCode } from '../support/error-code.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { snapshotStore } from '../support/snapshot-store.ts';
import { book, memoryWorld } from '../support/travel-world.ts';
import { withSqliteStore } from '../support/with-sqlite-store.ts';

/** A store that notes which entries are handed out, so that a test can change them. */
function tampering(store: ThreadStore, change: (text: string, index: number) => string) {
  return {
    ...store,
    read: async (threadId: string, after?: number) =>
      (await store.read(threadId, after)).map((entry, index) =>
        Object.freeze({ ...entry, text: change(entry.text, index) }),
      ),
  };
}

/** The JSON form of a thread, changed so that its log vouches for another snapshot, as a forger would do it. */
function vouchingFor(snapshot: string, json: string): string {
  const digest = createHash('sha256')
    .update(`holdpoint/snapshot/v1\0${snapshot}`)
    .digest('base64url');
  const key = '"snapshot":"';
  const at = json.lastIndexOf(key) + key.length;
  return rechainedJson(json.slice(0, at) + digest + json.slice(at + digest.length));
}

const turns = 12;

/** A thread of many turns, the last of which waits for an approval, in a store with a snapshot of its beginning. */
async function longThread(every?: number) {
  const chat = Array.from({ length: turns }, (_, turn) => [
    { calls: [book(`c${turn}`, `City ${turn}`)] },
    { text: `Booked ${turn}.` },
  ]).flat();
  const store = snapshotStore(every);
  const world = memoryWorld([...chat, { calls: [book('last', 'Oslo')] }, { text: 'Done.' }]);
  const agent = world.agent({ store });
  const thread = await agent.thread('t');
  for (let turn = 0; turn < turns; turn += 1) {
    const asked = await agent.run(`Book ${turn}`, thread, { messageId: `m${turn}` });
    await agent.run(
      asked.approvalRequests.map((request) => request.approve()),
      thread,
    );
  }
  await agent.run('Book the last', thread);
  return { store, world, thread, open: () => world.agent({ store }).thread('t') };
}

test('a thread that is opened from a snapshot is the same as the one that was written', async () => {
  const { thread, open, store } = await longThread();
  expect(store.kept.has('t')).toBe(true);
  const opened = await open();
  expect(opened.messages).toEqual(thread.messages);
  expect(opened.calls).toEqual(thread.calls);
  expect(opened.decisions).toEqual(thread.decisions);
  expect(opened.status).toBe('waiting');
  expect(JSON.stringify(opened.activeRequests)).toBe(JSON.stringify(thread.activeRequests));
  expect(opened.events).toEqual(thread.events);
  expect(JSON.stringify(opened)).toBe(JSON.stringify(thread));
});

test('a call that was requested before a snapshot runs once after it', async () => {
  const { world, store } = await longThread();
  const agent = world.agent({ store });
  const thread = await agent.thread('t');
  const answers = thread.activeApprovalRequests.map((request) => request.approve());
  const ended = await agent.run(answers, thread);
  expect(ended.text).toBe('Done.');
  expect(world.ran).toHaveLength(turns + 1);
  expect(world.ran.at(-1)?.input).toEqual({ city: 'Oslo' });
});

test('a long thread in a SQLite file is opened from a snapshot, which is deleted with it', async () => {
  await withSqliteStore(async (store, path) => {
    using file = new DatabaseSync(path);
    const snapshots = () =>
      file.prepare('select revision from holdpoint_entries where revision = 0').all();
    const { model } = scriptedModel([{ text: 'One.' }]);
    const agent = createAgent({ model, store });
    const history = Array.from({ length: 100 }, () => ({ role: 'user', content: 'Hi' }) as const);
    const { thread } = await agent.run('One?', await agent.thread('f', { messages: history }));
    expect(snapshots()).toHaveLength(1);
    file.exec(
      `update holdpoint_entries set entry = replace(entry, '"Hi"', '"Ho"') where revision = 2`,
    );
    const opened = await createAgent({ model, store }).thread('f');
    expect(opened.messages).toEqual(thread.messages);
    expect(await errorCode(opened.verify())).toBe('log-tampered');
    await agent.delete(thread);
    expect(snapshots()).toHaveLength(0);
  });
});

test('a snapshot is written when a thread has grown by an eighth, and not at every append', async () => {
  const { thread } = await longThread();
  const written = JSON.stringify(thread).match(/\],"snapshot":"[\w-]{43}","hash"/g) ?? [];
  expect(written.length).toBeGreaterThan(1);
  expect(written.length).toBeLessThan(turns / 2);
});

test('a message that is sent again gets the reply that is behind a snapshot', async () => {
  const { world, store } = await longThread();
  const agent = world.agent({ store });
  const before = world.requests();
  const again = await agent.run('Book 2', await agent.thread('t'), { messageId: 'm2' });
  expect(again.text).toBe('Booked 2.');
  expect(again.messages.map(({ role }) => role)).toEqual(['assistant', 'tool', 'assistant']);
  expect(world.requests()).toBe(before);
});

test.each([
  ['City 3', 'City 4'],
  ['"leaseUntil":', '"leaseUntil":1'],
])('what was changed behind a snapshot is found by verify: %s', async (found, put) => {
  const { store, world, thread } = await longThread();
  await expect(thread.verify()).resolves.toBeUndefined();
  const changed = tampering(store, (text, index) => (index < 20 ? text.replace(found, put) : text));
  const opened = await world.agent({ store: changed }).thread('t');
  expect(opened.status).toBe('waiting');
  expect(await errorCode(opened.verify())).toBe('log-tampered');
});

test('what was changed after a snapshot is found when the thread is opened', async () => {
  const { store, world } = await longThread();
  const changed = tampering(store, (text) => text.replace('Oslo', 'Rome'));
  expect(await errorCode(world.agent({ store: changed }).thread('t'))).toBe('log-tampered');
});

test('an entry behind a snapshot that is not readable is reported when its events are read', async () => {
  const { store, world } = await longThread();
  const cut = tampering(store, (text, index) => (index === 2 ? text.replace('{', '[') : text));
  const opened = await world.agent({ store: cut }).thread('t');
  expect(() => opened.events).toThrow('not JSON');
});

test.each([
  ['is missing', () => undefined],
  ['was changed', (text: string) => text.replaceAll('City 3', 'City 4')],
  ['is of another thread', (text: string) => text.replace('"threadId":"t"', '"threadId":"u"')],
  ['is not JSON', () => 'not JSON'],
])('a thread whose snapshot %s is read whole', async (_fault, change) => {
  const { store, world, thread } = await longThread();
  const broken = {
    ...store,
    snapshots: { read: async (id: string) => change(store.kept.get(id) ?? '') },
  };
  const agent = world.agent({ store: broken });
  const opened = await agent.thread('t');
  expect(JSON.stringify(opened)).toBe(JSON.stringify(thread));
  expect(opened.calls).toEqual(thread.calls);
  expect(opened.messages).toEqual(thread.messages);
  await opened.verify();
});

test('a snapshot that differs from its log, but for which a forged log vouches, is found by verify', async () => {
  const { store, world, thread } = await longThread();
  const forgedText = store.kept.get('t')?.replaceAll('City 3', 'City 4') ?? '';
  const forged = snapshotStore();
  const agent = world.agent({ store: forged });
  await agent.restore(vouchingFor(forgedText, JSON.stringify(thread)));
  forged.kept.set('t', forgedText);
  const opened = await world.agent({ store: forged }).thread('t');
  expect(JSON.stringify(opened.calls)).toContain('City 4');
  expect(await errorCode(opened.verify())).toBe('log-tampered');
});

test.each([
  ['not JSON', () => 'not JSON'],
  [
    'without its requests',
    (text: string) => text.replace('"endedRequests":[{', '"endedRequests":[1,{'),
  ],
  ['with a message that is none', (text: string) => text.replace('"messages":[', '"messages":[1,')],
  [
    'with a message list that is none',
    (text: string) => text.replace('"messages":[', '"pastCalls":['),
  ],
  [
    'with an id that is none',
    (text: string) => text.replace('"toolCallIds":[', '"toolCallIds":[1,'),
  ],
  ['of another thread', (text: string) => text.replace('"threadId":"t"', '"threadId":"u"')],
])('a snapshot that is vouched for and %s is refused', async (_fault, change) => {
  const { store, world, thread } = await longThread();
  const text = change(store.kept.get('t') ?? '');
  const forged = snapshotStore();
  await world.agent({ store: forged }).restore(vouchingFor(text, JSON.stringify(thread)));
  forged.kept.set('t', text);
  expect(await errorCode(world.agent({ store: forged }).thread('t'))).toBe('log-tampered');
});

test('the rows of a thread that were copied to another thread are refused, with its snapshot too', async () => {
  const { store, world } = await longThread();
  const copied = {
    ...store,
    read: async (_id: string, after?: number) => store.read('t', after),
    head: async (threadId: string) => {
      const summary = await store.head('t');
      return summary && { ...summary, threadId };
    },
    snapshots: { read: async () => store.kept.get('t') },
  };
  expect(await errorCode(world.agent({ store: copied }).thread('copy'))).toBe('log-tampered');
});

test('a snapshot of another version is not read', async () => {
  const { store, world, thread } = await longThread();
  const newer =
    store.kept
      .get('t')
      ?.replace(/^\{"v":\d+/, '{"v":99')
      .replaceAll('City', 'Town') ?? '';
  const other = snapshotStore();
  await world.agent({ store: other }).restore(vouchingFor(newer, JSON.stringify(thread)));
  other.kept.set('t', newer);
  const opened = await world.agent({ store: other }).thread('t');
  expect(JSON.stringify(opened.messages)).toBe(JSON.stringify(thread.messages));
  await opened.verify();
});

test('text that a model wrote is never taken for the digest of a snapshot', async () => {
  const digest = 'x'.repeat(43);
  const forged = `],"snapshot":"${digest}","hash":"${digest}"}`;
  const store = snapshotStore();
  const { model } = scriptedModel([{ text: forged }]);
  const agent = createAgent({ model, store });
  const { thread } = await agent.run(forged, await agent.thread('t'));
  let reads = 0;
  const watched = {
    ...store,
    snapshots: {
      async read() {
        reads += 1;
        return undefined;
      },
    },
  };
  const opened = await createAgent({ model, store: watched }).thread('t');
  expect(opened.messages).toEqual(thread.messages);
  expect(reads).toBe(0);
});

test('bytes, URLs and data like their tags survive a snapshot', async () => {
  const store = snapshotStore(1);
  const { model } = scriptedModel([{ text: '1' }, { text: '2' }, { text: '3' }]);
  const agent = createAgent({ model, store });
  const thread = await agent.thread('t');
  const image = { type: 'file', mediaType: 'image/png', data: Uint8Array.of(1, 2, 3) } as const;
  const link = {
    type: 'file',
    mediaType: 'image/png',
    data: new URL('https://a.example/b'),
  } as const;
  const options = { holdpointTest: { like: { $bytes: 'AAAA' } } };
  await agent.run([{ role: 'user', content: [image, link], providerOptions: options }], thread);
  await agent.run('more', thread);
  await agent.run('and more', thread);
  const opened = await createAgent({ model, store }).thread('t');
  expect(opened.messages).toEqual(thread.messages);
  expect(JSON.stringify(opened)).toBe(JSON.stringify(thread));
});

test('a thread that was deleted and made anew is not opened from the snapshot of the old one', async () => {
  const { store, world } = await longThread();
  const old = store.kept.get('t') ?? '';
  const agent = world.agent({ store });
  await agent.cancel(await agent.thread('t'));
  await agent.delete(await agent.thread('t'));
  const { model } = scriptedModel([{ text: 'New.' }]);
  const other = createAgent({ model, store });
  await other.run('Hello', await other.thread('t'));
  store.kept.set('t', old);
  const opened = await createAgent({ model, store }).thread('t');
  expect(opened.messages).toHaveLength(2);
});

test('a standing approval without a limit still decides calls after a snapshot', async () => {
  const cities = ['Oslo', 'Rome', 'Bern', 'Bonn'];
  const world = memoryWorld(
    cities.flatMap((city) => [{ calls: [book(city, city)] }, { text: `Booked ${city}.` }]),
  );
  const rule = { type: 'user-approval', remember: { scope: 'thread', match: 'any' } } as const;
  const options = { store: snapshotStore(1), toolApproval: { book: rule } };
  const first = world.agent(options);
  const asked = await first.run('Book', await first.thread('t'));
  const remember = { scope: 'thread', match: 'any' } as const;
  const answers = asked.approvalRequests.map((request) => request.approve({ remember }));
  await first.run(answers, asked.thread);
  for (const city of cities.slice(1)) {
    const agent = world.agent(options);
    const thread = await agent.thread('t');
    const response = await agent.run('Book', thread, { abortSignal: AbortSignal.timeout(5_000) });
    expect(response.text).toBe(`Booked ${city}.`);
    expect(thread.grants).toHaveLength(1);
    await thread.verify();
  }
  expect(world.ran).toHaveLength(4);
});

test('a thread to which its own handle appends while it is verified is not taken for a deleted one', async () => {
  const world = memoryWorld([{ text: 'One.' }, { text: 'Two.' }]);
  let afterRead: (() => Promise<unknown>) | undefined;
  const store: ThreadStore = {
    ...world.store,
    async head(threadId) {
      const summary = await world.store.head(threadId);
      const next = afterRead;
      afterRead = undefined;
      await next?.();
      return summary;
    },
  };
  const agent = world.agent({ store });
  const thread = await agent.thread('t');
  await agent.run('One?', thread);
  const before = thread.revision;
  afterRead = () => agent.run('Two?', thread);
  await expect(thread.verify()).resolves.toBeUndefined();
  expect(thread.revision).toBeGreaterThan(before);
});

test('a restored thread has its snapshot, and its log is the same', async () => {
  const { thread, world, store } = await longThread();
  const json = JSON.stringify(thread);
  const other = snapshotStore();
  const restored = await world.agent({ store: other }).restore(json);
  expect(other.kept.get('t')).toBe(store.kept.get('t'));
  expect(await other.read('t')).toEqual(await store.read('t'));
  /* What is behind the snapshot is not read, so nobody notices there that it was changed. */
  const changed = tampering(other, (text, index) =>
    index < 20 ? text.replace('City 3', 'City 4') : text,
  );
  const opened = await world.agent({ store: changed }).thread('t');
  expect(opened.messages).toEqual(thread.messages);
  expect(opened.calls).toEqual(restored.calls);
  expect(await errorCode(opened.verify())).toBe('log-tampered');
  await restored.verify();
});

test('a restored thread in a SQLite file has its snapshot', async () => {
  const { thread, world, store } = await longThread();
  await withSqliteStore(async (file) => {
    await world.agent({ store: file }).restore(JSON.stringify(thread));
    expect(await file.snapshots?.read('t')).toBe(store.kept.get('t'));
    const answers = (await world.agent({ store: file }).thread('t')).activeApprovalRequests;
    const agent = world.agent({ store: file });
    const ended = await agent.run(
      answers.map((request) => request.approve()),
      await agent.thread('t'),
    );
    expect(ended.text).toBe('Done.');
  });
});

test('a snapshot for which its log does not vouch is not restored, and the next append takes one', async () => {
  /* Its last snapshots are so new that a thread which has them would be given no other. */
  const { thread, world } = await longThread(0);
  const other = snapshotStore();
  const agent = world.agent({ store: other });
  const restored = await agent.restore(vouchingFor('another', JSON.stringify(thread)));
  expect(other.kept.size).toBe(0);
  await agent.run(
    restored.activeApprovalRequests.map((request) => request.approve()),
    restored,
  );
  expect(other.kept.size).toBe(1);
  expect((await agent.thread('t')).messages).toEqual(restored.messages);
  await restored.verify();
});

test('a thread whose snapshot is missing gets another one with the next append', async () => {
  const store = snapshotStore();
  const { model } = scriptedModel([{ text: 'One.' }, { text: 'Two.' }, { text: 'Three.' }]);
  const open = () => createAgent({ model, store });
  const messages = Array.from({ length: 100 }, () => ({ role: 'user', content: 'Hi' }) as const);
  const agent = open();
  await agent.run('One?', await agent.thread('t', { messages }));
  const first = store.kept.get('t');
  const second = open();
  await second.run('Two?', await second.thread('t'));
  expect(store.kept.get('t')).toBe(first);
  store.kept.clear();
  const third = open();
  const { thread } = await third.run('Three?', await third.thread('t'));
  expect(store.kept.has('t')).toBe(true);
  expect((await open().thread('t')).messages).toEqual(thread.messages);
  await thread.verify();
});
