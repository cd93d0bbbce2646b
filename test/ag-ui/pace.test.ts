import { tool } from 'ai';
import { memoryStore, type ThreadStore } from 'holdpoint';
import { eventsOf } from 'holdpoint/schemas';
import type { AgUiHandlerOptions } from 'holdpoint/ag-ui';
import { describe, expect, test } from 'vitest';
import { book, cityInput, look, travelTools } from '../support/travel-world.ts';
import {
  client,
  endOf,
  nextTurn,
  type Handler,
  ofType,
  post,
  poster,
  runInput,
  served,
  site,
  typesOf,
  user,
} from './ag-ui-site.ts';
import { checkedEvents } from './checked-events.ts';
import { backlog, leaveUnread, talker } from './unread-streams.ts';

const said = runInput({ messages: [user('u1')] });
const deltasOf = (text: string): number =>
  ofType(checkedEvents(text), 'TEXT_MESSAGE_CONTENT')
    .map(({ delta }) => delta.length)
    .reduce((sum, length) => sum + length, 0);

test('a reader that keeps up is told all of it as it is said, however much it is', async () => {
  const at = talker(3_000, 'x'.repeat(1_000));
  const response = await at.handler(post(said));
  const text = await response.text();
  expect(typesOf(checkedEvents(text))).not.toContain('MESSAGES_SNAPSHOT');
  expect(deltasOf(text)).toBe(3_000_000);
});

describe('a reader that does not read', () => {
  test('does not hold the run, and is told the rest at the end', async () => {
    const at = talker(3_000, 'x'.repeat(1_000));
    const response = await at.handler(post(said));
    await at.runsEnded(1);
    const text = await response.text();
    const events = checkedEvents(text);
    expect(typesOf(events)).toEqual(['RUN_STARTED', 'MESSAGES_SNAPSHOT', 'RUN_FINISHED']);
    expect(ofType(events, 'MESSAGES_SNAPSHOT')[0]?.messages).toMatchObject([
      { id: 'u1' },
      { role: 'assistant', content: 'x'.repeat(3_000_000) },
    ]);
  });

  test('in the middle of a text: the text is ended, and told whole at the end', async () => {
    const at = talker(3_000, 'y'.repeat(1_000));
    const response = await at.handler(post(said));
    const reader = response.body?.getReader();
    const decoder = new TextDecoder();
    let text = '';
    while (!text.includes('TEXT_MESSAGE_CONTENT')) {
      text += decoder.decode((await reader?.read())?.value, { stream: true });
    }
    await at.runsEnded(1);
    for (let next = await reader?.read(); next?.done === false; next = await reader?.read()) {
      text += decoder.decode(next.value, { stream: true });
    }
    const events = checkedEvents(text);
    expect(typesOf(events)).toEqual([
      'RUN_STARTED',
      'TEXT_MESSAGE_START',
      'TEXT_MESSAGE_CONTENT',
      'TEXT_MESSAGE_END',
      'MESSAGES_SNAPSHOT',
      'RUN_FINISHED',
    ]);
    expect(deltasOf(text)).toBeLessThan(2 * backlog);
  });

  test('only for a while gets all of it, in fewer pieces', async () => {
    const at = talker(1_000, 'z'.repeat(10));
    const response = await at.handler(post(said));
    await at.runsEnded(1);
    const events = checkedEvents(await response.text());
    expect(typesOf(events)).not.toContain('MESSAGES_SNAPSHOT');
    expect(ofType(events, 'TEXT_MESSAGE_CONTENT')).toMatchObject([{ delta: 'z'.repeat(10_000) }]);
  });

  test("is put right where it is the protocol's own client", async () => {
    const at = talker(3_000, 'x'.repeat(1_000));
    const slow: Handler = async (request) => {
      const response = await at.handler(request);
      await at.runsEnded(1);
      return response;
    };
    const visitor = client(await served(slow));
    expect(endOf(await visitor.say('Go on'))).toEqual({ type: 'success' });
    expect(visitor.agent.messages).toMatchObject([
      { id: 'm1' },
      { role: 'assistant', content: 'x'.repeat(3_000_000) },
    ]);
  });

  test('is asked what people are asked, for all that', async () => {
    const script = [
      { text: 'word '.repeat(200_000), calls: [book('c1', 'Paris')] },
      { text: 'Done.' },
    ];
    const at = site(script);
    const ended = new Promise<void>((resolve) => {
      at.agent.on('run-ended', () => resolve());
    });
    const response = await at.handler(post(said));
    await ended;
    const events = checkedEvents(await response.text());
    expect(typesOf(events)).toEqual([
      'RUN_STARTED',
      'STATE_SNAPSHOT',
      'MESSAGES_SNAPSHOT',
      'CUSTOM',
      'RUN_FINISHED',
    ]);
    expect(endOf(events)).toMatchObject({ interrupts: [{ toolCallId: 'c1' }] });
  });
});

/* A few; the deep tests leave more. */
test('streams that nobody reads end their runs, and none keeps more than its share', async () => {
  await leaveUnread(5);
});

/** A thread whose approved call takes its time. */
async function leaving(options: Partial<AgUiHandlerOptions> = {}) {
  const flight = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<AbortSignal | undefined>();
  const slow = tool({
    inputSchema: cityInput,
    execute: async ({ city }, { abortSignal }) => {
      begun.resolve(abortSignal);
      const aborted = new Promise<void>((resolve) => {
        abortSignal?.addEventListener('abort', () => resolve());
      });
      await Promise.race([flight.promise, aborted]);
      return { booked: city };
    },
  });
  const tools = { ...travelTools([]), book: slow };
  const at = site([{ calls: [book('c1', 'Paris')] }, { text: 'Done.' }], { tools });
  const { handler, agent } = at.worker(options);
  await at.post(said);
  const [request] = (await agent.thread('t')).activeRequests;
  const resume = [
    { interruptId: request?.requestId, status: 'resolved', payload: { approved: true } },
  ];
  const ended = new Promise<void>((resolve) => {
    agent.on('run-ended', () => resolve());
  });
  return {
    ...at,
    agent,
    handler,
    flight,
    begun,
    ended,
    answer: runInput({ runId: 'r2', resume }),
  };
}

describe('a client that leaves', () => {
  test('does not end the run, by whichever way the server says so', async () => {
    for (const leave of ['body', 'signal'] as const) {
      const at = await leaving();
      const gone = new AbortController();
      const response = await at.handler(new Request(post(at.answer), { signal: gone.signal }));
      await at.begun.promise;
      if (leave === 'signal') gone.abort();
      else await response.body?.cancel();
      at.flight.resolve();
      await at.ended;
      expect(await at.agent.thread('t')).toMatchObject({ status: 'idle' });
      expect(at.played.requests).toBe(2);
    }
  });

  test('before it has read: what waited for it is let go', async () => {
    const at = await leaving();
    const gone = new AbortController();
    const response = await at.handler(new Request(post(at.answer), { signal: gone.signal }));
    await at.begun.promise;
    gone.abort();
    at.flight.resolve();
    await at.ended;
    expect(await response.text()).toBe('');
  });

  test('ends it where the app wants so', async () => {
    const at = await leaving({ abortOnDisconnect: true });
    const response = await at.handler(post(at.answer));
    const signal = await at.begun.promise;
    await response.body?.cancel();
    await at.ended;
    expect(signal?.aborted).toBe(true);
    expect(at.played.requests).toBe(1);
  });

  test('over a socket does not end it either', async () => {
    const at = await leaving();
    const address = await served(at.handler);
    const gone = new AbortController();
    const { method, headers } = post(at.answer);
    const init = { method, headers, body: JSON.stringify(at.answer), signal: gone.signal };
    await fetch(address, init);
    await at.begun.promise;
    gone.abort();
    at.flight.resolve();
    await at.ended;
    expect((await at.agent.thread('t')).status).toBe('idle');
  });
});

/** A call that is under way at one worker, and another worker whose looks are the test's. */
async function elsewhere() {
  const flight = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const clock = { now: 0 };
  const slow = tool({
    inputSchema: cityInput,
    execute: async ({ city }) => {
      begun.resolve();
      await flight.promise;
      return { booked: city };
    },
  });
  const options = {
    tools: { ...travelTools([]), book: slow },
    now: () => clock.now,
    leaseMs: 1_000,
  };
  const store = memoryStore();
  const at = site([{ calls: [book('c1', 'Paris')] }, { text: 'Done.' }], options, () => store);
  await at.post(said);
  const thread = await at.agent.thread('t');
  const run = at.agent.run(
    thread.activeApprovalRequests.map((each) => each.approve()),
    thread,
  );
  await begun.promise;
  const looks: number[] = [];
  const other = at.worker({
    pollMs: 7,
    wait: async (milliseconds) => {
      looks.push(milliseconds);
      if (looks.length === 1) {
        flight.resolve();
        await run;
      }
    },
  });
  return { ...at, other, looks, run, clock };
}

/** A thread whose worker was lost in a model step, and clients of another; a look is when the lease ends. */
async function lostWorker() {
  const clock = { now: 0 };
  const store = memoryStore();
  const hanging: ThreadStore = {
    ...store,
    append: async (...input) =>
      input[2]
        .flatMap(eventsOf)
        .some(({ type }) => type === 'step-finished' || type === 'run-renewed')
        ? new Promise(() => {})
        : store.append(...input),
  };
  const at = site(
    [{ text: 'Lost.' }, { text: 'Hello.' }],
    { now: () => clock.now, leaseMs: 1_000 },
    () => store,
  );
  const lost = at.worker({}, { store: hanging });
  const begun = new Promise<void>((resolve) => {
    lost.agent.on('run-started', () => resolve());
  });
  void lost.handler(post(said));
  await begun;
  return { ...at, clock };
}

describe('a thread that another worker runs', () => {
  test('is followed: what the other records is told, in its order', async () => {
    const at = await elsewhere();
    const { events } = await at.other.post(runInput({ runId: 'r2', messages: [user('u1')] }));
    expect(endOf(events)).toEqual({ type: 'success' });
    expect(typesOf(events)).toEqual([
      'RUN_STARTED',
      'MESSAGES_SNAPSHOT',
      'TOOL_CALL_RESULT',
      'TEXT_MESSAGE_START',
      'TEXT_MESSAGE_CONTENT',
      'TEXT_MESSAGE_END',
      'RUN_FINISHED',
    ]);
    expect(at.looks).toEqual([7]);
    expect(at.played.requests).toBe(2);
  });

  test('is taken up where that worker is lost', async () => {
    const at = await lostWorker();
    const wait = async (): Promise<void> => {
      at.clock.now += 1_000;
    };
    const { events } = await at.worker({ wait }).post(said);
    expect(endOf(events)).toEqual({ type: 'success' });
    expect(ofType(events, 'TEXT_MESSAGE_CONTENT').map(({ delta }) => delta)).toContain('Hello.');
    expect((await at.agent.thread('t')).messages).toHaveLength(2);
  });

  test('is looked at no more, nor taken up, when the client has gone', async () => {
    const at = await lostWorker();
    const looks: AbortSignal[] = [];
    const looked = Promise.withResolvers<void>();
    const left = Promise.withResolvers<void>();
    const wait = async (_milliseconds: number, signal: AbortSignal): Promise<void> => {
      looks.push(signal);
      looked.resolve();
      await left.promise;
      at.clock.now += 1_000;
    };
    const response = await at.worker({ wait }).handler(post(said));
    await looked.promise;
    await response.body?.cancel();
    left.resolve();
    for (let turn = 0; turn < 20; turn += 1) await nextTurn();
    expect(looks.map(({ aborted }) => aborted)).toEqual([true]);
    expect((await at.agent.thread('t')).messages).toHaveLength(1);
    expect(at.played.requests).toBe(1);
  });

  test('and that can be looked at no more: a reader that is behind is told what was seen last, and nothing older', async () => {
    const flights = new Map(
      ['Paris', 'Rome', 'Bern'].map((city) => [city, Promise.withResolvers<void>()]),
    );
    const slow = tool({
      inputSchema: cityInput,
      execute: async ({ city }) => {
        await flights.get(city)?.promise;
        return city.repeat(60_000);
      },
    });
    const store = memoryStore();
    let isDown = false;
    const read: ThreadStore['read'] = async (...input) => {
      if (isDown) throw new Error('down');
      return store.read(...input);
    };
    const calls = [...flights.keys()].map((city) => look(city, city));
    const at = site(
      [{ calls }, { text: 'Done.' }],
      { tools: { ...travelTools([]), look: slow } },
      () => ({ ...store, read }),
    );
    const run = at.post(said);
    const ended = (): Promise<unknown> => {
      const next = Promise.withResolvers<void>();
      at.agent.on('call-ended', () => next.resolve());
      return next.promise;
    };
    const begun = new Promise<void>((resolve) => {
      at.agent.on('call-started', () => resolve());
    });
    await begun;
    const looks = ['Paris', 'Rome'];
    const wait = async (): Promise<void> => {
      const city = looks.shift();
      const result = ended();
      if (city !== undefined) flights.get(city)?.resolve();
      if (city !== undefined) await result;
      isDown = city === undefined;
    };
    const followed = Promise.withResolvers<void>();
    const worker = at.worker({
      wait,
      onError: () => {
        followed.resolve();
        return 'Down.';
      },
    });
    const response = await worker.handler(post(runInput({ runId: 'r2', messages: [user('u1')] })));
    await followed.promise;
    isDown = false;
    const events = checkedEvents(await response.text());
    expect(events.at(-1)).toMatchObject({ type: 'RUN_ERROR', message: 'Down.' });
    const [snapshot] = ofType(events, 'MESSAGES_SNAPSHOT');
    expect(snapshot?.messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'tool',
    ]);
    flights.get('Bern')?.resolve();
    await run;
  });

  test('takes no new message', async () => {
    const at = await elsewhere();
    const { events } = await at.other.post(runInput({ messages: [user('u1'), user('u2')] }));
    expect(events).toMatchObject([{ type: 'RUN_ERROR', code: 'thread-busy' }]);
  });
});

test('two clients that answer at the same moment: the call runs once', async () => {
  const at = site([{ calls: [book('c1', 'Paris')] }, { text: 'Done.' }]);
  await at.post(said);
  const [request] = (await at.agent.thread('t')).activeRequests;
  const resume = [
    { interruptId: request?.requestId, status: 'resolved', payload: { approved: true } },
  ];
  const all = await Promise.all(
    [at, at.worker({ wait: nextTurn }), at.worker({ wait: nextTurn })].map(async ({ handler }) =>
      poster(handler)(runInput({ resume })),
    ),
  );
  for (const { events } of all) expect(endOf(events)).toEqual({ type: 'success' });
  expect(at.world.ran).toHaveLength(1);
  expect(at.played.requests).toBe(2);
});
