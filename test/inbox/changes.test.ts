import { type AgentOptions, memoryStore, type ThreadStore } from 'holdpoint';
import { describe, expect, test } from 'vitest';
import { inboxChangeSchema } from '../../src/apps/inbox/inbox-api.ts';
import { inboxOf, no, office, only, pay } from './inbox-site.ts';

const acme = (id: string) => ({ calls: [pay(id, { to: 'ACME', euros: 1 })] });

interface SentEvent {
  id?: string;
  data?: unknown;
  retry?: string;
}

/** The events of a stream, as a browser reads them. */
class EventReader {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #decoder = new TextDecoder();
  #text = '';

  constructor(response: Response) {
    if (response.body === null) throw new Error('The response has no body.');
    this.#reader = response.body.getReader();
  }

  /** The next event; `undefined` at the end. */
  async next(): Promise<SentEvent | undefined> {
    for (;;) {
      const end = this.#text.indexOf('\n\n');
      if (end !== -1) {
        const block = this.#text.slice(0, end);
        this.#text = this.#text.slice(end + 2);
        return parseBlock(block);
      }
      const { done, value } = await this.#reader.read();
      if (done) return undefined;
      this.#text += this.#decoder.decode(value, { stream: true });
    }
  }

  async leave(): Promise<void> {
    await this.#reader.cancel();
  }
}

function parseBlock(block: string): SentEvent {
  const lines = block
    .split('\n')
    .filter(Boolean)
    .map((line) => {
      const [name = '', ...rest] = line.split(': ');
      const text = rest.join(': ');
      return [name, name === 'data' ? inboxChangeSchema.strict().parse(JSON.parse(text)) : text];
    });
  return Object.fromEntries(lines);
}

/** A timer that a test lets run out. */
function manualTimer() {
  const waits = new Set<() => void>();
  const delays: number[] = [];
  const wait = async (ms: number, signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      delays.push(ms);
      const end = (): void => {
        waits.delete(end);
        resolve();
      };
      if (signal.aborted) return resolve();
      waits.add(end);
      signal.addEventListener('abort', end, { once: true });
    });
  const elapse = async (during = () => {}): Promise<void> => {
    await expect.poll(() => waits.size).toBeGreaterThan(0);
    during();
    for (const end of waits) end();
  };
  return { wait, elapse, waits, delays };
}

/** An office whose changes Ben, or somebody else, follows. */
function followed(
  count: number,
  store: ThreadStore = memoryStore(),
  options: object = {},
  rules: Partial<AgentOptions> = {},
) {
  const script = Array.from({ length: count }, (_each, index) => acme(`c${index}`));
  const timer = manualTimer();
  const at = office(script, { store, ...rules });
  const inbox = inboxOf(at.agent, {
    wait: timer.wait,
    keepAliveMs: 1_000,
    pollMs: 500,
    ...options,
  });
  const follow = async (name = 'ben', query = '', headers: Record<string, string> = {}) => {
    const response = await inbox.send(name, `/api/changes${query}`, { headers });
    expect(response.headers.get('content-type')).toBe('text/event-stream');
    const reader = new EventReader(response);
    expect(await reader.next()).toEqual({ retry: '2000' });
    return reader;
  };
  return { ...at, inbox, timer, follow };
}

describe('a stream of changes', () => {
  test('names each request that the person may see, from the position of their list on', async () => {
    const { ask, inbox, follow } = followed(2);
    await ask('t1');
    const { position } = await inbox.list('ben');
    const reader = await follow('ben', `?after=${position}`);
    await ask('t2');
    const opened = await reader.next();
    expect(opened).toMatchObject({ data: { threadId: 't2' } });
    expect(Number(opened?.id)).toBeGreaterThan(position);
    const entry = only(
      (await inbox.list('ben')).entries.filter(({ threadId }) => threadId === 't1'),
    );
    await inbox.answer('cleo', [{ entry, answer: no(entry) }]);
    const { requestId, threadId } = entry;
    expect(await reader.next()).toMatchObject({ data: { requestId, threadId } });
    await reader.leave();
  });

  test('names nothing of what the person may not see', async () => {
    const { ask, follow, timer, clock } = followed(2);
    const reader = await follow('dora');
    const next = reader.next();
    await ask('t1');
    await timer.elapse(() => {
      clock.now += 1_000;
    });
    expect(await next).toEqual({ id: expect.any(String) });
    await reader.leave();
  });

  test('goes on where a browser was cut off, whatever its address says', async () => {
    const { ask, inbox, follow } = followed(2);
    await ask('t1');
    const { position } = await inbox.list('ben');
    await ask('t2');
    const reader = await follow('ben', '?after=0', { 'last-event-id': String(position) });
    expect(await reader.next()).toMatchObject({ data: { threadId: 't2' } });
    await reader.leave();
    const whole = await follow('ben', '?after=0');
    expect(await whole.next()).toMatchObject({ data: { threadId: 't1' } });
    expect(await whole.next()).toMatchObject({ data: { threadId: 't2' } });
    await whole.leave();
  });

  test('without a position begins now', async () => {
    const { ask, follow } = followed(2);
    await ask('t1');
    const reader = await follow();
    await ask('t2');
    expect(await reader.next()).toMatchObject({ data: { threadId: 't2' } });
    await reader.leave();
  });

  test('says that anything may have changed to whoever is far behind', async () => {
    const { agent, follow, inbox } = followed(0);
    const thread = await agent.thread('t1');
    for (let index = 0; index < 200; index += 1) {
      await agent.requestApproval(thread, { text: 'Go on?', approvers: ['finance'] });
    }
    const reader = await follow('ben', '?after=0');
    const { position } = await inbox.list('ben');
    expect(await reader.next()).toEqual({ id: String(position), data: {} });
    await reader.leave();
  });

  test('and to whoever is ahead, as after a database was restored', async () => {
    const { ask, follow } = followed(1);
    const reader = await follow('ben', '?after=1000');
    expect(await reader.next()).toEqual({ id: '0', data: {} });
    await ask('t1');
    expect(await reader.next()).toMatchObject({ data: { threadId: 't1' } });
    await reader.leave();
  });

  test('says without a name that a request was deleted', async () => {
    const { agent, ask, follow } = followed(1);
    await ask('t1');
    const reader = await follow('dora');
    await agent.delete(await agent.thread('t1'));
    expect(await reader.next()).toMatchObject({ data: {} });
    await reader.leave();
  });

  test('polls a store that has no notices', async () => {
    const { subscribe: _none, ...quiet } = memoryStore();
    const { ask, follow, timer } = followed(1, quiet);
    const reader = await follow();
    const next = reader.next();
    await ask('t1');
    await timer.elapse();
    expect(await next).toMatchObject({ data: { threadId: 't1' } });
    await reader.leave();
  });

  test.each([
    ['less and less often where the store has notices', memoryStore(), [500, 1_000, 1_500, 1_500]],
    [
      'steadily where it has none',
      { ...memoryStore(), subscribe: undefined },
      [500, 500, 500, 500],
    ],
  ])('polls a silent feed %s', async (_, store, expected) => {
    const { follow, timer } = followed(0, store, { keepAliveMs: 60_000 });
    const reader = await follow();
    const next = reader.next();
    for (let polls = 0; polls < expected.length; polls += 1) await timer.elapse();
    expect(timer.delays.slice(0, 4)).toEqual(expected);
    await reader.leave();
    await next;
  });

  test('shows that it is alive, and moves the position along', async () => {
    const { timer, clock, ask, follow } = followed(1);
    const reader = await follow('dora');
    await ask('t1');
    const next = reader.next();
    await timer.elapse(() => {
      clock.now += 1_000;
    });
    const { id } = (await next) ?? {};
    expect(Number(id)).toBeGreaterThan(0);
    await reader.leave();
  });

  test.each([
    ['signs out', () => undefined],
    ['becomes somebody else', () => ({ principal: 'cleo' })],
  ])('ends before it says anything more when the person %s', async (_, later) => {
    let isLater = false;
    const { ask, follow } = followed(1, memoryStore(), {
      authorize: () => (isLater ? later() : { principal: 'ben' }),
    });
    const reader = await follow();
    isLater = true;
    await ask('t1');
    expect(await reader.next()).toBeUndefined();
  });

  test('names nothing more to a person whose role was taken away meanwhile', async () => {
    const roles = ['finance'];
    const { ask, follow, timer, clock } = followed(
      1,
      memoryStore(),
      { authorize: () => ({ principal: { id: 'ben', roles: [...roles] } }) },
      {
        principalId: (principal) => String(Reflect.get(Object(principal), 'id')),
        mayAnswer: ({ principal }) => JSON.stringify(principal).includes('finance'),
      },
    );
    const reader = await follow();
    roles.pop();
    await ask('t1', { id: 'eve' });
    const next = reader.next();
    await timer.elapse(() => {
      clock.now += 1_000;
    });
    expect(await next).toEqual({ id: expect.any(String) });
    await reader.leave();
  });

  test('ends when the client goes, and leaves nothing behind', async () => {
    const store = memoryStore();
    const subscribe = store.subscribe?.bind(store);
    let subscribers = 0;
    store.subscribe = (listener) => {
      subscribers += 1;
      const end = subscribe?.(listener);
      return async () => {
        subscribers -= 1;
        await end?.();
      };
    };
    const { inbox, follow, timer } = followed(0, store);
    const reader = await follow();
    const idle = reader.next();
    await expect.poll(() => [subscribers, timer.waits.size]).toEqual([1, 1]);
    await reader.leave();
    expect(await idle).toBeUndefined();
    await expect.poll(() => [subscribers, timer.waits.size]).toEqual([0, 0]);
    const gone = new AbortController();
    const response = await inbox.send('ben', '/api/changes', { signal: gone.signal });
    const other = new EventReader(response);
    await other.next();
    const last = other.next();
    gone.abort();
    expect(await last).toBeUndefined();
    await expect.poll(() => [subscribers, timer.waits.size]).toEqual([0, 0]);
  });
});
