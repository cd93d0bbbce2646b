import { createToolServer } from 'holdpoint/rap';
import { describe, expect, test } from 'vitest';
import { jsonSchema } from 'ai';
import { z } from 'zod';
import { signatureOf, signedHeaders } from '../rap/standard-webhooks.ts';
import { type Callback, post } from './runtime.ts';
import { worldOf } from './world.ts';

const choice = { prompt: 'May I?', choices: ['Yes', 'No'], default: 1 };
const key = Buffer.from('thirty-two bytes that nobody has');
const otherKey = Buffer.from('thirty-two bytes that others have');
const secret = `whsec_${key.toString('base64')}`;
const other = `whsec_${otherKey.toString('base64')}`;

/** Standard Webhooks headers for a body. */
function signed(body: unknown, by = key, at = Date.now()): Record<string, string> {
  return signedHeaders(by, typeof body === 'string' ? body : JSON.stringify(body), { at });
}

function minutesAgo(count: number): number {
  return Date.now() - count * 60_000;
}

function expectSigned({ headers, text }: Callback, by: Buffer): void {
  const timestamp = String(headers['webhook-timestamp']);
  expect(headers['webhook-signature']).toBe(
    signatureOf(by, String(headers['webhook-id']), timestamp, text),
  );
  expect(Math.abs(Number(timestamp) - Date.now() / 1_000)).toBeLessThan(60);
}

describe('where callbacks go', () => {
  test.each([
    ['another scheme', 'file:///etc/passwd'],
    ['no URL', 'callback'],
    ['a script', 'javascript:alert(1)'],
    ['a URL with credentials', 'http://user:word@127.0.0.1/'],
    ['no text', 7],
  ])(
    'not to %s: the invocation is refused with the reason, runs nothing, and the app is told',
    async (_, callback_url) => {
      const ran: unknown[] = [];
      const { errors, invoke, runtime, server } = await worldOf((call) => ran.push(call));
      const refused = await invoke({ callback_url });
      expect(refused.status).toBe(400);
      expect(await refused.json()).toMatchObject({
        error: { code: 'invalid-input', message: expect.stringContaining('callback_url') },
      });
      await server.close();
      expect([ran, runtime.callbacks]).toEqual([[], []]);
      expect(errors).toEqual([expect.objectContaining({ code: 'invalid-input' })]);
    },
  );

  test('only to the origins that are allowed: scheme, host and port', async () => {
    const sent: string[] = [];
    const { errors, invoke, server } = await worldOf(() => 'Done.', {
      allowedOrigins: ['https://agent.example.com', 'http://127.0.0.1:4000/'],
      fetch: async (...sending) => {
        sent.push(new Request(...sending).url);
        return new Response();
      },
    });
    const urls = [
      'https://agent.example.com/callback',
      'http://127.0.0.1:4000/x',
      'http://agent.example.com/callback',
      'https://agent.example.com:8443/callback',
      'https://agent.example.com.evil.example/callback',
      'https://evil.example/https://agent.example.com',
      'https://agent.example.com@evil.example/',
      'http://127.0.0.1:4001/x',
      'http://2130706433:4001/x',
      'http://[::ffff:7f00:1]:4000/x',
      'http://localhost:4000/x',
    ];
    for (const [id, callback_url] of urls.entries()) {
      const status = id < 2 ? 200 : callback_url.includes('@') ? 400 : 403;
      expect([callback_url, (await invoke({ id: String(id), callback_url })).status]).toEqual([
        callback_url,
        status,
      ]);
    }
    const refused = await invoke({ callback_url: 'https://evil.example/x?capability=s3cret' });
    expect(await refused.json()).toEqual({
      error: { code: 'not-allowed', message: 'Callbacks to https://evil.example are not allowed.' },
    });
    await server.close();
    expect(sent.toSorted()).toEqual(urls.slice(0, 2).toSorted());
    expect(errors).toHaveLength(urls.length - 1);
  });

  test('an app that is told of trouble, and throws, costs no call its result', async () => {
    const { invoke, runtime } = await worldOf(() => 'Done.', {
      onError: () => {
        throw new Error('The log is full.');
      },
    });
    expect((await invoke({ callback_url: 'nowhere' })).status).toBe(400);
    await invoke();
    expect((await runtime.next()).json.text).toBe('Done.');
  });
});

describe('what is no invocation', () => {
  test.each([
    ['no id', { id: undefined }],
    ['an empty id', { id: '' }],
    ['an id of 1,001 characters', { id: 'x'.repeat(1_001) }],
    ['no group_id', { group_id: null }],
    ['a call_id that is a number', { call_id: 1 }],
  ])('%s can not be answered: it is 400 with the reason, and runs nothing', async (_, more) => {
    const { errors, invoke, runtime, server } = await worldOf(() => 'Done.');
    const refused = await invoke(more);
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({
      error: { message: expect.stringContaining(Object.keys(more)[0] ?? '') },
    });
    await server.close();
    expect(runtime.callbacks).toEqual([]);
    expect(errors).toHaveLength(1);
  });

  test.each([
    ['no JSON', 400, '{', {}],
    ['empty', 400, '', {}],
    ['a list', 400, '[]', {}],
    ['a form of another site', 415, '{}', { 'content-type': 'text/plain' }],
    ['too long', 413, `"${'x'.repeat(1_048_576)}"`, {}],
    ['said to be too long', 413, '{}', { 'content-length': '1048577' }],
  ])(
    'a body that is %s is %i with a reason, and runs nothing',
    async (_, status, body, headers) => {
      const { posts, runtime, server } = await worldOf(() => 'Done.');
      const refused = await posts('', body, headers);
      expect(refused.status).toBe(status);
      expect(await refused.json()).toMatchObject({ error: { message: expect.any(String) } });
      await server.close();
      expect(runtime.callbacks).toEqual([]);
    },
  );

  test.each(['https://evil.example', 'http://tools.internal:8080', 'null'])(
    '106: a page of a browser, of the origin %s, is 403, and runs nothing',
    async (origin) => {
      const { posts, runtime, server } = await worldOf(() => 'Done.');
      const refused = await posts('', runtime.invocation('work'), { origin });
      expect(refused.status).toBe(403);
      await server.close();
      expect(runtime.callbacks).toEqual([]);
    },
  );

  test('other methods are 405', async () => {
    const { server } = await worldOf(() => 'Done.');
    const response = await server.handler(new Request('http://tools.internal/'));
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
  });

  test('a body that breaks off is told, and runs nothing', async () => {
    const { errors, server } = await worldOf(() => 'Done.');
    const body = new ReadableStream({
      pull(controller) {
        controller.error(new Error('The line broke.'));
      },
    });
    const headers = { 'content-type': 'application/json' };
    const init = { method: 'POST', headers, body, duplex: 'half' as const };
    const response = await server.handler(new Request('http://tools.internal/', init));
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain('line');
    expect(errors).toHaveLength(1);
  });
});

describe('Z0-8 with signatures', () => {
  test('what comes is taken when it is signed, and every callback is, each try anew under one id', async () => {
    const { clock, posts, runtime, server } = await worldOf(({ askUser }) => askUser(choice), {
      signing: { secret },
    });
    const invocation = runtime.invocation('work');
    runtime.replies(500);
    expect((await posts('', invocation, signed(invocation))).status).toBe(200);
    await runtime.next();
    await clock.pass(1_000);
    const asked = await runtime.next();
    const selection = { id: 'call_abc123', selected: 0 };
    const path = new URL(asked.json.response_url).pathname.replace('/tools', '');
    expect((await posts(path, selection, signed(selection))).status).toBe(200);
    await runtime.next();
    await server.close();
    for (const callback of runtime.callbacks) expectSigned(callback, key);
    const ids = runtime.callbacks.map(({ headers }) => headers['webhook-id']);
    expect(ids[0]).toBe(ids[1]);
    expect(ids[2]).not.toBe(ids[1]);
  });

  test.each<[string, (body: unknown) => Record<string, string>]>([
    ['not signed', () => ({})],
    ['signed by another', (body) => signed(body, otherKey)],
    ['signed for another body', () => signed('{}')],
    ['signed six minutes ago', (body) => signed(body, key, minutesAgo(6))],
    ['signed in six minutes', (body) => signed(body, key, minutesAgo(-6))],
    [
      'signed with a number for a signature',
      (body) => ({ ...signed(body), 'webhook-signature': '1' }),
    ],
    ['signed in version 0', (body) => ({ ...signed(body), 'webhook-signature': 'v0,AA==' })],
  ])('what is %s is 401 on every route, and changes nothing', async (_, headersOf) => {
    const { posts, runtime, server } = await worldOf(({ askUser }) => askUser(choice), {
      signing: { secret },
    });
    const invocation = runtime.invocation('work');
    expect((await posts('', invocation, headersOf(invocation))).status).toBe(401);
    await posts('', invocation, signed(invocation));
    const path = new URL((await runtime.next()).json.response_url).pathname.replace('/tools', '');
    const bodies: [string, unknown][] = [
      [path, { id: 'call_abc123', selected: 1 }],
      [path, 'no JSON'],
      ['/cancel_tool_call', { thread_id: 'thread_xyz', tool_call_id: 'call_abc123' }],
      ['/close_thread', { thread_id: 'thread_xyz' }],
    ];
    for (const [to, body] of bodies) {
      expect((await posts(to, body, headersOf(body))).status).toBe(401);
    }
    const selection = { id: 'call_abc123', selected: 0 };
    await posts(path, selection, signed(selection));
    expect((await runtime.next()).json.text).toContain('Yes');
    await server.close();
    expect(runtime.types).toEqual(['user_choice', 'tool_result']);
  });

  test('of several secrets any is taken, and the first signs', async () => {
    const { posts, runtime } = await worldOf(() => 'Done.', {
      signing: { secret: [other, secret] },
    });
    const invocation = runtime.invocation('work');
    expect((await posts('', invocation, signed(invocation))).status).toBe(200);
    expectSigned(await runtime.next(), otherKey);
  });

  test('an invocation that somebody has recorded, and posts again, does not run again', async () => {
    const ran: unknown[] = [];
    const { posts, runtime, server } = await worldOf((call) => ran.push(call), {
      signing: { secret },
    });
    const invocation = runtime.invocation('work');
    const headers = signed(invocation);
    await posts('', invocation, headers);
    await runtime.next();
    expect((await posts('', invocation, headers)).status).toBe(200);
    await server.close();
    expect(ran).toHaveLength(1);
  });
});

describe('what a tool server can not be made of is a TypeError', () => {
  test.each<[string, Partial<Parameters<typeof createToolServer>[0]>]>([
    ['a base URL that is none', { baseUrl: 'tools' }],
    ['a base URL of a file', { baseUrl: 'file:///tools' }],
    ['an origin with a path', { allowedOrigins: ['https://agent.example.com/callback'] }],
    ['an origin that is a host', { allowedOrigins: ['agent.example.com'] }],
    ['every origin', { allowedOrigins: ['*'] }],
    ['an empty secret', { signing: { secret: '' } }],
    ['a short secret', { signing: { secret: btoa('twenty-three bytes long') } }],
    ['a secret that is no base64', { signing: { secret: 'correct horse battery staple!' } }],
    ['no secret', { signing: { secret: [] } }],
    ['a deadline that a timer can not hold', { deadlineMs: 2 ** 31 }],
    ['no time', { deadlineMs: 0 }],
    ['no deadline', { deadlineMs: Number.NaN }],
    ['a grace time that a timer can not hold', { graceMs: Infinity }],
    ['a patience that a timer can not hold', { callbackMs: Infinity }],
    ['a limit that is no number', { maximumBodyBytes: Number.NaN }],
    ['room for no number of calls', { maximumRunning: Number.NaN }],
    ['a memory for no number of calls', { maximumRemembered: -1 }],
    ['half a retry', { retries: 1.5 }],
    [
      'a schema that checks nothing',
      { tools: { open: { inputSchema: jsonSchema({}), execute: () => '' } } },
    ],
  ])('%s', (_, options) => {
    expect(() => createToolServer({ tools: {}, ...options })).toThrow(TypeError);
  });

  test('schemas of the AI SDK are taken, and what a schema makes of the input is what runs', async () => {
    const sent: string[] = [];
    const both = Promise.withResolvers<void>();
    const { handler } = createToolServer({
      tools: {
        double: {
          inputSchema: z.object({ count: z.string().transform(Number) }),
          execute: ({ count }) => String(count * 2),
        },
        triple: {
          inputSchema: jsonSchema<{ count: number }>(
            {},
            { validate: (value) => ({ success: true, value: { count: z.number().parse(value) } }) },
          ),
          execute: ({ count }) => String(count * 3),
        },
      },
      fetch: async (...sending) => {
        const result = await new Request(...sending).json();
        sent.push(z.object({ text: z.string() }).parse(result).text);
        if (sent.length === 2) both.resolve();
        return new Response();
      },
    });
    const invocation = { group_id: 'g', callback_url: 'http://localhost/callback' };
    const double = { ...invocation, id: '1', operation: 'double', arguments: { count: '21' } };
    const triple = { ...invocation, id: '2', operation: 'triple', arguments: 15 };
    await handler(post('http://localhost/', double));
    await handler(post('http://localhost/', triple));
    await both.promise;
    expect(sent.toSorted()).toEqual(['42', '45']);
  });
});
