import { memoryStore } from 'holdpoint';
import { describe, expect, test } from 'vitest';
import { FeedReader } from '../../src/apps/inbox/feed-reader.ts';
import type { FeedChange } from '../../src/thread/thread-store-requests.ts';
import { lostCalls } from '../support/lost-call.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { watchRows } from '../support/watched-rows.ts';
import { inboxOf, no, office, only, pay } from './inbox-site.ts';

const acme = (id: string, to = 'ACME') => ({ calls: [pay(id, { to, euros: 1 })] });

/** An office with a request for each recipient. */
async function askedFor(recipients: readonly string[], store = memoryStore()) {
  const script = recipients.map((to, index) => acme(`c${index}`, to));
  const toolApproval = {
    pay: { type: 'user-approval', text: 'Pay?', approvers: ['finance'] },
  } as const;
  const at = office(script, { store, toolApproval });
  for (const index of recipients.keys()) await at.ask(`t${index}`);
  return at;
}

/* Nearly as long as the arguments can be that an agent asks about. */
const longText = 'A'.repeat(250_000);

/** The next part of a stream, as text. */
async function readText(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<string> {
  const { value } = await reader.read();
  return new TextDecoder().decode(value);
}

describe('a list', () => {
  test('has no more entries than were asked for, and never more than 200', async () => {
    const { agent } = await askedFor(Array.from({ length: 5 }, () => 'ACME'));
    const inbox = inboxOf(agent);
    expect((await inbox.list('ben', 'limit=3')).entries).toHaveLength(3);
    expect((await inbox.send('ben', '/api/requests?limit=200')).status).toBe(200);
    expect((await inbox.send('ben', '/api/requests?limit=201')).status).toBe(400);
  });

  test('leaves out long arguments, and what the app says about them', async () => {
    const { agent } = await askedFor([longText, longText, 'ACME']);
    const inbox = inboxOf(agent, {
      details: { pay: () => [{ type: 'text', label: 'Note', text: 'Short.' }] },
    });
    const body = await (await inbox.send('ben', '/api/requests')).text();
    expect(body.length).toBeLessThan(10_000);
    const { entries } = await inbox.list('ben');
    const shown = entries.map(({ request, details }) => [request !== undefined, details.length]);
    expect(shown).toEqual([
      [false, 0],
      [false, 0],
      [true, 1],
    ]);
    const [first] = entries;
    const { entry } = await inbox.show('ben', first?.requestId ?? '');
    expect(entry.request?.toolCall?.input).toEqual({ to: longText, euros: 1 });
    expect(entry.details).toHaveLength(1);
    expect(entry.digest).toBe(first?.digest);
  });

  test('leaves out what the app says at length about a short call', async () => {
    const { agent } = await askedFor(['ACME']);
    const inbox = inboxOf(agent, {
      details: { pay: () => [{ type: 'text', label: 'Contract', text: longText }] },
    });
    const listed = only((await inbox.list('ben')).entries);
    expect([listed.request, listed.details]).toEqual([undefined, []]);
    const { entry } = await inbox.show('ben', listed.requestId);
    expect(entry.details).toMatchObject([{ text: longText }]);
  });

  test('leaves out the arguments of a lost call that are long', async () => {
    const watched = watchRows();
    watched.forge = (row) => ({ ...row, text: row.text?.replace('Paris', longText) ?? null });
    const lost = await lostCalls(['t1'], { name: 'office' }, watched.store);
    const { agent } = lost.agent({ model: scriptedModel([]).model });
    await agent.thread('t1');
    const inbox = inboxOf(agent, { maySettle: () => true });
    const listed = only((await inbox.list('dora', 'list=unsettled')).entries);
    expect(listed.lostCall).toEqual({ toolCallId: 'c1', toolName: 'book' });
    const { entry } = await inbox.show('dora', listed.requestId);
    expect(entry.lostCall?.input).toEqual({ city: longText });
  });

  test('has two million characters, and of what follows no content', async () => {
    const { agent } = await askedFor(Array.from({ length: 25 }, () => 'A'.repeat(90_000)));
    const inbox = inboxOf(agent);
    const { entries } = await inbox.list('ben');
    expect(entries).toHaveLength(25);
    expect(JSON.stringify(entries).length).toBeLessThan(2_100_000);
    const isShown = entries.map(({ request }) => request !== undefined);
    expect(isShown.indexOf(false)).toBeGreaterThan(15);
    expect(isShown.lastIndexOf(true)).toBe(isShown.indexOf(false) - 1);
  });

  test('searches for a text in ten pages of rows at most', async () => {
    const { store, ...watched } = watchRows();
    const { agent } = await askedFor(
      Array.from({ length: 25 }, () => 'ACME'),
      store,
    );
    const inbox = inboxOf(agent);
    const page = await inbox.list('ben', 'text=zenith&limit=2');
    expect(page.entries).toEqual([]);
    expect(page.next).toBeDefined();
    expect(watched.queries).toHaveLength(10);
    expect(watched.queries.map(({ limit }) => limit)).toEqual(Array.from({ length: 10 }, () => 2));
  });
});

test('earlier decisions are read twenty at once, up to a hundred rows', async () => {
  const watched = watchRows();
  const { agent } = await askedFor(['ACME', 'Zenith'], watched.store);
  const inbox = inboxOf(agent);
  const [first, second] = (await inbox.list('ben', 'order=oldest')).entries;
  if (first === undefined || second === undefined) throw new Error('Nothing is listed.');
  await inbox.answer('ben', [{ entry: first, answer: no(first) }]);
  const list = watched.store.requests?.list;
  if (watched.store.requests === undefined || list === undefined) throw new Error('No rows.');
  const limits: unknown[] = [];
  /* So many that the person may not see any of them. */
  watched.store.requests.list = async (query) => {
    limits.push(query.limit);
    const [row] = await list({ ...query, after: undefined });
    if (row === undefined) return [];
    return Array.from({ length: query.limit ?? 0 }, () => ({
      ...row,
      requestId: second.requestId,
    }));
  };
  expect((await inbox.show('ben', second.requestId)).earlier).toEqual([]);
  expect(limits).toEqual([20, 20, 20, 20, 20]);
});

test('earlier decisions come without arguments that are long', async () => {
  const { agent } = await askedFor([longText, 'ACME']);
  const inbox = inboxOf(agent);
  const [first, second] = (await inbox.list('ben', 'order=oldest')).entries;
  if (first === undefined || second === undefined) throw new Error('Nothing is listed.');
  const { entry } = await inbox.show('ben', first.requestId);
  await inbox.answer('ben', [{ entry, answer: no(entry) }]);
  const decision = only((await inbox.show('ben', second.requestId)).earlier);
  expect(decision).toMatchObject({ state: 'rejected', reason: 'Too dear.' });
  expect(decision.input).toBeUndefined();
});

describe('a stream of changes', () => {
  test('keeps nothing for a slow reader, and then says that anything may have changed', async () => {
    const { store } = watchRows();
    const at = office([], { store });
    const inbox = inboxOf(at.agent);
    const reader = (await inbox.send('ben', '/api/changes')).body?.getReader();
    if (reader === undefined) throw new Error('There is no stream.');
    await readText(reader);
    const requests = store.requests;
    if (requests === undefined) throw new Error('There are no rows.');
    const changes = requests.changes.bind(requests);
    let readings = 0;
    requests.changes = async (query) => {
      readings += 1;
      return changes(query);
    };
    const thread = await at.agent.thread('t1');
    for (let index = 0; index < 300; index += 1) {
      await at.agent.requestApproval(thread, { text: 'Go on?', approvers: ['finance'] });
    }
    expect(readings).toBe(0);
    const { position } = await inbox.list('ben');
    expect(await readText(reader)).toBe(`id: ${position}\ndata: {}\n\n`);
    await reader.cancel();
  });

  test('shares what it reads with all others that follow', async () => {
    const store = memoryStore();
    const at = office([acme('c1')], { store });
    const inbox = inboxOf(at.agent);
    const readers = await Promise.all(
      Array.from({ length: 20 }, async () =>
        (await inbox.send('ben', '/api/changes')).body?.getReader(),
      ),
    );
    for (const reader of readers) if (reader !== undefined) await readText(reader);
    const next = readers.map(async (reader) => (reader === undefined ? '' : readText(reader)));
    const requests = store.requests;
    if (requests === undefined) throw new Error('There are no rows.');
    const changes = requests.changes.bind(requests);
    const readings: number[] = [];
    requests.changes = async (query) => {
      readings.push(query.after);
      return changes(query);
    };
    await at.ask('t1');
    for (const news of await Promise.all(next)) expect(news).toContain('requestId');
    expect(readings.length).toBeLessThan(5);
    await Promise.all(readers.map(async (reader) => reader?.cancel()));
  });
});

test('no stream shares a reading that began before it woke, as that may be without the news', async () => {
  const change: FeedChange = { position: 1, type: 'deleted', requestId: 'r1', threadId: 't1' };
  const begun: ((read: FeedChange[]) => void)[] = [];
  const changes = async () => new Promise<FeedChange[]>((resolve) => begun.push(resolve));
  const feed = new FeedReader({ changes });
  const early = [feed.read(0, 10), feed.read(0, 10)];
  await expect.poll(() => begun.length).toBe(1);
  const late = feed.read(0, 10);
  begun[0]?.([]);
  await expect.poll(() => begun.length).toBe(2);
  begun[1]?.([change]);
  expect(await Promise.all([...early, late])).toEqual([[], [], [change]]);
});

test('a count reads at most ten pages of rows', async () => {
  const watched = watchRows();
  const inbox = inboxOf((await askedFor(['ACME'], watched.store)).agent);
  const { requests } = watched.store;
  const [row] = (await requests?.list({})) ?? [];
  if (requests === undefined || row === undefined) throw new Error('There are no rows.');
  let read = 0;
  requests.list = async ({ limit = 0 }) => {
    read += 1;
    return Array.from({ length: limit }, () => row);
  };
  expect((await inbox.counts('zed')).all).toEqual({ count: 0, hasMore: true });
  expect(read).toBe(20);
});
