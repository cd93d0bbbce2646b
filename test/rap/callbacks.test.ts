import { createHmac } from 'node:crypto';
import { createAgent, type ThreadStore } from 'holdpoint';
import { createCallbackHandler, remoteTool } from 'holdpoint/rap';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { scriptedModel } from '../support/scripted-model.ts';
import { pick, questionOf, RemoteWorld, secret } from './remote-world.ts';
import { type Invocation, post } from './tool-server.ts';
import type { DiscardedCallback } from '../../src/channels/rap/create-callback-handler.ts';
import { pickCases } from '../support/sampling.ts';

const choice = {
  type: 'user_choice',
  prompt: 'Sure?',
  choices: ['Yes', 'No'],
  default: 1,
};

/** A world with a call, and what a message to it comes to. */
async function sent(message: (world: RemoteWorld) => object) {
  const world = await RemoteWorld.start();
  const { agent, thread } = await world.called();
  const status = await world.server.call(world.server.last, message(world));
  const after = await agent.thread(thread.id);
  return { world, status, isChanged: after.revision !== thread.revision, thread: after };
}

describe('a user_choice that is not as the document has it is refused, and nothing is asked:', () => {
  const ill: [row: string, field: string, values: unknown[]][] = [
    ['S0-07', 'type', [null, 5, undefined]],
    ['S0-08', 'group_id', [null, 5, undefined]],
    ['S0-10', 'id', [null, 5, undefined]],
    ['S0-12', 'call_id', [5, {}, false]],
    ['S0-14', 'prompt', [null, 5, undefined, '', ' ', '\u200b\u2060']],
    ['S0-14 (99)', 'prompt', ['x'.repeat(16_385)]],
    ['S0-15, S0-16', 'choices', [null, 'Yes', [], [1], ['Yes', null], undefined]],
    [
      'S0-56 (99)',
      'choices',
      [
        ['', 'No'],
        [' ', 'No'],
        ['\u200b\u2060', 'No'],
        ['Yes', 'Yes'],
        ['Yes', 'Yes '],
        ['Yes', 'Yes\u200b'],
        ['Yes, all', 'Yes,\u00a0 all'],
        ['Allow caf\u00e9', 'Allow cafe\u0301'],
        ['Yes', 'x'.repeat(1_025)],
        Array.from({ length: 10_001 }, (_, index) => `Choice ${index}`),
      ],
    ],
    ['S0-17, S0-19', 'default', [-1, 2, 1.5, '1', null, undefined, 2 ** 53, true]],
    ['S0-20', 'response_url', [null, 5, undefined, `http://127.0.0.1/${'x'.repeat(8_000)}`]],
  ];
  const cases = ill.flatMap(([row, field, values]) =>
    values.map((value) => ({ row, field, value })),
  );
  test.each(pickCases(cases, 3))('$row: $field that is $value', async ({ field, value }) => {
    const made = await sent(({ server }) => ({
      ...choice,
      response_url: server.responseUrl,
      [field]: value,
    }));
    await using world = made.world;
    expect(made).toMatchObject({ status: 400, isChanged: false });
    expect(world.discarded).toMatchObject([{ reason: 'malformed', toolCallId: 'call_abc123' }]);
    expect(made.thread.calls).toMatchObject([{ status: 'deferred' }]);
  });

  test.each(['NaN', '1e400', '0x1'])('S0-19: default that is %s', async (value) => {
    await using world = await RemoteWorld.start();
    await world.called();
    const { last, responseUrl: response_url } = world.server;
    const { group_id, id } = last;
    const text = JSON.stringify({ ...choice, group_id, id, response_url });
    const altered = text.replace('"default":1', `"default":${value}`);
    expect(await post(last.callback_url, altered)).toBe(400);
    expect((await world.open().head('t'))?.openRequests).toBe(0);
  });
});

describe('a callback that is not about the call whose URL it came to is dropped without a trace for its sender:', () => {
  const strange: [row: string, fields: object][] = [
    ['S0-09: another group_id', { group_id: 'u' }],
    ['S0-11: another id', { id: 'call_other' }],
    ['an id of a prototype', { id: '__proto__' }],
    ['S0-13: another call_id than was given', { call_id: 'another' }],
  ];
  const messages = [choice, { type: 'tool_result', text: 'Done.' }];
  const cases = strange.flatMap(([row, fields]) =>
    messages.map((message) => ({ row, fields, message, type: message.type })),
  );
  test.each(pickCases(cases, 3))('$row, $type', async ({ fields, message }) => {
    const made = await sent(({ server }) => ({
      ...message,
      response_url: server.responseUrl,
      ...fields,
    }));
    await using world = made.world;
    expect(made).toMatchObject({ status: 200, isChanged: false });
    expect(world.discarded).toMatchObject([{ reason: 'mismatch' }]);
  });

  test.each(['oauth', 'subscription_event', 'view_update', '__proto__'])(
    'O0-08: a message of type %s',
    async (type) => {
      const made = await sent(() => ({ type, auth_url: 'https://example.com' }));
      await using world = made.world;
      expect(made).toMatchObject({ status: 200, isChanged: false });
      expect(world.discarded).toMatchObject([{ reason: 'unsupported' }]);
    },
  );

  test.each([undefined, null, 'echoed'] as const)('S0-12: call_id %s is taken', async (given) => {
    const made = await sent(({ server }) => ({
      ...choice,
      response_url: server.responseUrl,
      call_id: given === 'echoed' ? server.last.call_id : given,
    }));
    await using world = made.world;
    expect(made).toMatchObject({ status: 200, isChanged: true });
    expect(world.discarded).toEqual([]);
  });

  test('O0-06: what comes after the result, be it the same, another one or a question', async () => {
    await using world = await RemoteWorld.start();
    const { agent } = await world.called();
    const { last } = world.server;
    await world.server.finish(last);
    const { revision } = await agent.thread('t');
    const late = [
      await world.server.finish(last),
      await world.server.finish(last, { text: 'Error: not written after all' }),
      await world.server.ask(last),
    ];
    expect(late).toEqual([200, 200, 200]);
    const thread = await agent.thread('t');
    expect(thread.revision).toBe(revision);
    expect(thread.calls).toMatchObject([{ outcome: { output: 'Written.' } }]);
    expect(world.discarded.map(({ reason }) => reason)).toEqual(['ended', 'ended', 'ended']);
  });

  test('O0-09: what comes after the call was cancelled', async () => {
    await using world = await RemoteWorld.start();
    const { agent, thread } = await world.asked();
    await agent.cancel(thread);
    expect(world.server.answers).toEqual([]);
    expect(await world.server.finish(world.server.last)).toBe(200);
    expect(world.discarded).toMatchObject([{ reason: 'ended' }]);
  });

  test('95: what one call is told of another, by each URL with the ids of each', async () => {
    await using world = await RemoteWorld.start({
      script: [
        {
          calls: ['a', 'b'].map((id) => ({ id, name: 'write', input: { path: id } })),
        },
        { text: 'Done.' },
      ],
    });
    const { agent } = await world.called();
    const other = await agent.thread('u');
    const { id: threadId } = other;
    const [one, two] = world.server.invocations;
    if (one === undefined || two === undefined) throw new Error('There are two calls.');
    const third: Invocation = { ...one, group_id: threadId };
    for (const [url, ids] of [
      [one, two],
      [two, one],
      [one, third],
    ] as const) {
      const { group_id, id, call_id } = ids;
      const message = { type: 'tool_result', text: 'x', group_id, id, call_id };
      expect(await post(url.callback_url, message)).toBe(200);
    }
    expect(world.discarded.map(({ reason }) => reason)).toEqual(Array(3).fill('mismatch'));
    expect((await agent.thread('t')).calls.map(({ status }) => status)).toEqual([
      'deferred',
      'deferred',
    ]);
  });

  test('34: more questions than one call may ask', async () => {
    await using world = await RemoteWorld.start({ handler: { maximumQuestions: 3 } });
    const { agent } = await world.called();
    for (let count = 0; count < 10; count += 1) {
      expect(await world.server.ask(world.server.last, { prompt: `Sure ${count}?` })).toBe(200);
    }
    const thread = await agent.thread('t');
    expect(thread.activeRequests).toMatchObject([{ text: 'Sure 2?' }]);
    expect(world.discarded).toHaveLength(7);
    expect(world.discarded[0]).toMatchObject({ reason: 'too-many' });
  });
});

describe('O0-04, O0-05: a tool_result', () => {
  test.each([
    ['text', { text: 'Written.' }, { status: 'succeeded', output: 'Written.' }],
    ['an empty text', { text: '' }, { status: 'succeeded', output: '' }],
    ['an error', { text: 'Error: no space' }, { status: 'failed', error: 'Error: no space' }],
    ['a text about errors', { text: 'Errors: 0' }, { status: 'succeeded', output: 'Errors: 0' }],
    [
      'content, which wins over text',
      { text: 'Error: x', content: [{ type: 'text', text: 'Written.' }] },
      { status: 'succeeded', output: [{ type: 'text', text: 'Written.' }] },
    ],
    [
      'an error in content',
      { content: [{ type: 'text', text: 'Error: no space' }] },
      { status: 'failed', error: 'Error: no space' },
    ],
    [
      'an image, with what people are shown beside it',
      {
        content: [{ type: 'image', data: 'AAAA', mediaType: 'image/png' }],
        display_as: [{ type: 'diff', content: '+1' }],
        subscription: false,
      },
      {
        status: 'succeeded',
        output: [{ type: 'image', data: 'AAAA', mediaType: 'image/png' }],
        modelOutput: {
          type: 'content',
          value: [{ type: 'file', data: { type: 'data', data: 'AAAA' }, mediaType: 'image/png' }],
        },
      },
    ],
  ])('%s', async (_what, fields, outcome) => {
    const made = await sent(() => ({ type: 'tool_result', ...fields }));
    await using world = made.world;
    expect([made.status, world.discarded]).toEqual([200, []]);
    expect(made.thread.calls).toMatchObject([{ outcome }]);
    expect(made.thread.events.at(-1)).toMatchObject({ source: 'delivered', channel: 'rap' });
  });

  test.each([{}, { text: 5 }, { content: [] }, { content: [{ type: 'video' }] }])(
    'that is %o is refused',
    async (fields) => {
      const made = await sent(() => ({ type: 'tool_result', ...fields }));
      await using world = made.world;
      expect(made).toMatchObject({ status: 400, isChanged: false });
      expect(world.discarded).toMatchObject([{ reason: 'malformed' }]);
    },
  );
});

/** A world, and a handler that notes what it reads of the store. */
async function spied(secrets: string | string[] = secret) {
  const world = await RemoteWorld.start();
  await world.called();
  const reads: string[] = [];
  const store = world.open();
  const noting: ThreadStore = {
    ...store,
    async read(threadId, ...rest) {
      reads.push(threadId);
      return store.read(threadId, ...rest);
    },
  };
  const tools = world.tools({ secret: secrets });
  const agent = createAgent({ model: world.played.model, tools, store: noting });
  const reasons: DiscardedCallback['reason'][] = [];
  const handler = createCallbackHandler({
    agent,
    tools,
    onDiscarded: ({ reason }) => reasons.push(reason),
  });
  const call = async (url: string) => {
    const message = { type: 'tool_result', group_id: 't', id: 'call_abc123', text: 'x' };
    const init = { method: 'POST', headers: { 'content-type': 'application/json' } };
    return handler(new Request(url, { ...init, body: JSON.stringify(message) }));
  };
  const url = new URL(world.server.last.callback_url);
  const end = async () => world[Symbol.asyncDispose]();
  return { reads, reasons, call, url, [Symbol.asyncDispose]: end };
}

function set(url: URL, change: (parts: [string, string]) => [string, string]): void {
  const [text = '', mac = ''] = (url.searchParams.get('call') ?? '').split('.');
  url.searchParams.set('call', change([text, mac]).join('.'));
}

function claim(...parts: string[]): string {
  return Buffer.from(JSON.stringify(parts)).toString('base64url');
}

describe('94: a URL that was not given to a call is nothing, and nothing is read for it:', () => {
  const changes: [what: string, change: (url: URL) => void][] = [
    ['without a capability', (url) => url.searchParams.delete('call')],
    ['with an empty one', (url) => url.searchParams.set('call', '')],
    ['with two', (url) => url.searchParams.append('call', url.searchParams.get('call') ?? '')],
    ['with a part more', (url) => url.searchParams.set('call', `${url.searchParams.get('call')}.`)],
    ['without its signature', (url) => set(url, ([text]) => [text, ''])],
    ['with a longer signature', (url) => set(url, ([text, mac]) => [text, `${mac}AAAA`])],
    ['with a padded signature', (url) => set(url, ([text, mac]) => [text, `${mac}=`])],
    [
      'for another thread',
      (url) => set(url, ([, mac]) => [claim('u', 'write', 'call_abc123'), mac]),
    ],
    ['for another call', (url) => set(url, ([, mac]) => [claim('t', 'write', 'c2'), mac])],
    ['for another tool', (url) => set(url, ([, mac]) => [claim('t', 'toString', 'c'), mac])],
    ['with the parts shifted', (url) => set(url, ([, mac]) => [claim('t","write', '', ''), mac])],
    [
      'with what the secret signs for another purpose',
      (url) =>
        set(url, ([text]) => [text, createHmac('sha256', secret).update(text).digest('base64url')]),
    ],
    ['that is very long', (url) => set(url, ([text, mac]) => [text.repeat(1_000), mac])],
  ];
  test.each(pickCases(changes, 3))('%s', async (_what, change) => {
    await using made = await spied();
    change(made.url);
    const response = await made.call(made.url.href);
    expect([response.status, made.reads, made.reasons]).toEqual([404, [], ['capability']]);
  });

  test('12: any character of it changed', async () => {
    await using made = await spied();
    const token = made.url.searchParams.get('call') ?? '';
    const statuses = new Set<number>();
    for (const index of token.split('').keys()) {
      const other = token[index] === 'A' ? 'B' : 'A';
      made.url.searchParams.set('call', token.slice(0, index) + other + token.slice(index + 1));
      statuses.add((await made.call(made.url.href)).status);
    }
    expect([...statuses]).toEqual([404]);
    expect(made.reads).toEqual([]);
    made.url.searchParams.set('call', token);
    expect((await made.call(made.url.href)).status).toBe(200);
    expect(made.reads).not.toEqual([]);
  });

  const newer = 'another secret of the tests, as long as it must be';
  test.each([
    ['an old secret that is kept is known', [newer, secret], 200],
    ['a secret that is gone is not', newer, 404],
  ])('13: %s', async (_what, secrets, status) => {
    await using made = await spied(secrets);
    expect((await made.call(made.url.href)).status).toBe(status);
  });
});

describe('a callback that is no message is refused', () => {
  test.each([
    ['by another method', { method: 'PUT' }, 405],
    ['of another type', { headers: { 'content-type': 'text/plain' } }, 415],
    ['that is no JSON', { body: '{' }, 400],
    ['that is no object', { body: '[]' }, 400],
    ['that is no text', { body: new Uint8Array([0xff, 0xfe]) }, 400],
    ['that is too long (S0-14)', { body: JSON.stringify({ prompt: 'x'.repeat(2_000) }) }, 413],
    ['that is deep', { body: '['.repeat(1_000) }, 400],
  ])('%s', async (_what, init, status) => {
    await using world = await RemoteWorld.start({ handler: { maximumBodyBytes: 1_500 } });
    await world.called();
    const response = await fetch(world.server.last.callback_url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
      ...init,
    });
    expect(response.status).toBe(status);
    expect((await world.open().head('t'))?.openRequests).toBe(0);
  });

  test('O0-07: a store out of reach is 500, so that the message comes again', async () => {
    await using world = await RemoteWorld.start();
    const { agent } = await world.called();
    const { handler } = world.site;
    const broken: ThreadStore = {
      ...world.open(),
      read: async () => {
        throw new Error('no connection to db://secret');
      },
    };
    const tools = world.tools();
    world.site.handler = createCallbackHandler({
      agent: createAgent({ model: world.played.model, tools, store: broken }),
      tools,
    });
    const response = await fetch(world.server.last.callback_url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        type: 'tool_result',
        group_id: 't',
        id: 'call_abc123',
        text: 'Written.',
      }),
    });
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain('secret');
    world.site.handler = handler;
    expect(await world.server.finish(world.server.last)).toBe(200);
    expect((await agent.thread('t')).calls).toMatchObject([{ status: 'succeeded' }]);
  });
});

test('what the app gives and can not keep its word with is a TypeError', () => {
  const good = {
    endpoint: 'https://tools.example.com/run',
    description: 'x',
    inputSchema: z.object({}),
    callbackUrl: 'https://agent.example.com/rap',
    secret,
  };
  const bad = [
    { secret: 'short' },
    { secret: '' },
    { secret: [] },
    { secret: [secret, 'short'] },
    { secret: new Uint8Array(31) },
    { endpoint: 'tools' },
    { endpoint: 'file:///etc/passwd' },
    { endpoint: 'https://user:password@tools.example.com' },
    { callbackUrl: 'ftp://agent.example.com' },
    { allowedOrigins: ['*'] },
    { baseUrl: 'tools' },
    { expiresAfterMs: 0 },
    { timeoutMs: Number.NaN },
    { timeoutMs: 2 ** 31 },
  ];
  for (const options of bad) {
    expect(() => remoteTool({ ...good, ...options })).toThrow(TypeError);
  }
  expect(() => remoteTool({ ...good, secret: [new Uint8Array(32), secret] })).not.toThrow();

  const agent = createAgent({ model: scriptedModel([]).model });
  for (const limit of [{ maximumQuestions: Number.NaN }, { maximumBodyBytes: Number.NaN }]) {
    expect(() => createCallbackHandler({ agent, tools: {}, ...limit })).toThrow(TypeError);
  }
});

test('a question of one thread is answered there, by who may answer there', async () => {
  await using world = await RemoteWorld.start({ storeName: 'sqliteStore' });
  const { thread } = await world.asked();
  const answer = pick(thread, 0);
  const agent = world.process();
  const other = await agent.thread('u');
  await expect(agent.run(answer, other)).rejects.toMatchObject({ code: 'not-found' });
  expect(questionOf(await agent.thread('t')).requestId).toBe(answer.requestId);
});
