import { dynamicTool, jsonSchema, tool } from 'ai';
import { createAgent, memoryStore } from 'holdpoint';
import type { InboxHandlerOptions } from 'holdpoint/inbox';
import { agentTool } from 'holdpoint/tools';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { readSchemaFormats } from '../../src/view/schema-formats.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { inboxOf, no, office, only, pay, yes } from './inbox-site.ts';
import { pickCases } from '../support/sampling.ts';

const pin = 'correct horse 4711';
const secretive = { calls: [pay('c1', { to: 'ACME', euros: 1, pin })] };
const done = { text: 'Done.' };

describe('a secret', () => {
  test('leaves the server in no response, is counted, and runs as it is', async () => {
    const at = office([secretive, done]);
    await at.agent.run(`Pay with ${pin}.`, await at.agent.thread('t1'), { principal: 'eve' });
    const inbox = inboxOf(at.agent, {
      maySee: () => true,
      details: { pay: (input) => [{ type: 'text', label: 'Input', text: JSON.stringify(input) }] },
    });
    const sent: string[] = [];
    const read = async (path: string) => sent.push(await (await inbox.send('ben', path)).text());
    const entry = only((await inbox.list('ben')).entries);
    expect(entry).toMatchObject({
      masked: [['pin']],
      request: {
        text: 'Pay 1 EUR to ACME? The pin is ••••••.',
        toolCall: { input: { to: 'ACME', euros: 1, pin: '••••••' } },
        digest: entry.digest,
      },
      details: [{ text: '{"to":"ACME","euros":1,"pin":"••••••"}' }],
      rights: { mayApprove: true, mayEdit: false },
    });
    await read('/api/requests');
    await read('/api/requests?list=all');
    await read(`/api/requests/${entry.requestId}`);
    const outcomes = await inbox.answer('ben', [{ entry, answer: yes(entry) }]);
    expect(only(outcomes)).toMatchObject({ status: 'recorded' });
    sent.push(JSON.stringify(outcomes));
    await read('/api/requests?list=decided');
    expect(sent.join()).not.toContain('4711');
    const [stored] = (await at.agent.thread('t1')).decisions;
    expect(stored?.request.toolCall?.input).toMatchObject({ pin });
    expect(sent.join()).not.toContain(
      stored?.request.type === 'approval-request' ? stored.request.digest : '',
    );
    await at.agent.run([], await at.agent.thread('t1'));
    expect(at.paid).toEqual([{ to: 'ACME', euros: 1, pin }]);
  });

  test('is in no earlier decision, nor in the reason that quotes it', async () => {
    const at = office([secretive, secretive, done]);
    await at.ask('t1');
    await at.ask('t2');
    const inbox = inboxOf(at.agent);
    const [first, second] = (await inbox.list('ben', 'order=oldest')).entries;
    if (!first || !second) throw new Error('There are too few.');
    await inbox.answer('ben', [{ entry: first, answer: no(first, `Not with ${pin}.`) }]);
    expect((await inbox.show('ben', second.requestId)).earlier).toMatchObject([
      { reason: 'Not with ••••••.', input: { pin: '••••••' } },
    ]);
  });

  test.each([
    ['an edit', { input: { to: 'ACME', euros: 2, pin: '••••••' } }],
    ['the call as it was shown', { toolCall: { toolCallId: 'c1', toolName: 'pay', input: {} } }],
  ])('keeps %s from being taken, which does not have it', async (_, more) => {
    const at = office([secretive, done]);
    await at.ask('t1');
    const inbox = inboxOf(at.agent);
    const entry = only((await inbox.list('ben')).entries);
    expect(only(await inbox.answer('ben', [{ entry, answer: yes(entry, more) }]))).toMatchObject({
      status: 'refused',
      error: { code: 'not-allowed' },
    });
    expect((await at.agent.thread('t1')).decisions).toEqual([]);
  });
});

/** An inbox with one request of a tool that has this input, and its formats. */
async function shown(
  inputSchema: z.ZodType,
  input: object,
  options: Partial<InboxHandlerOptions> = {},
) {
  const { model } = scriptedModel([{ calls: [{ id: 'c1', name: 'act', input }] }]);
  const act = tool({ description: 'Acts.', inputSchema, execute: async () => 'Done.' });
  const agent = createAgent({
    model,
    store: memoryStore(),
    tools: { act },
    toolApproval: { act: { type: 'user-approval', text: () => JSON.stringify(input) } },
  });
  await agent.run('Act.', await agent.thread('t1'), { principal: 'eve' });
  const inbox = inboxOf(agent, options);
  const entry = only((await inbox.list('ben')).entries);
  return { inbox, entry, input: entry.request?.toolCall?.input };
}

const secret = z.string().meta({ format: 'password' });

/** Its JSON Schema refers to its root. */
const nested = z.object({
  pin: secret.optional(),
  get parts() {
    return z.array(nested).optional();
  },
});

const node = z.object({
  note: z.string().optional(),
  get parts() {
    return z.array(node).optional();
  },
});

describe('formats', () => {
  test('are those that the tool’s schema declares', async () => {
    const schema = z.object({
      at: z.iso.datetime(),
      day: z.iso.date().nullable(),
      lasts: z.iso.duration().optional(),
      amount: z
        .number()
        .meta({ 'x-holdpoint-format': { type: 'money', currency: 'EUR', unit: 'minor' } }),
      items: z.array(z.object({ at: z.iso.datetime() })),
      note: z.string(),
      number: z.number(),
    });
    const at = '2026-11-26T08:00:00Z';
    const input = { at, day: null, amount: 5, items: [{ at }], note: at, number: 20261126 };
    const { entry } = await shown(schema, input);
    expect(entry.formats).toEqual([
      { path: ['at'], format: { type: 'date-time', unit: 'iso' } },
      { path: ['day'], format: { type: 'date' } },
      { path: ['lasts'], format: { type: 'duration', unit: 'iso' } },
      { path: ['amount'], format: { type: 'money', currency: 'EUR', unit: 'minor' } },
      { path: ['items', '*', 'at'], format: { type: 'date-time', unit: 'iso' } },
    ]);
  });

  test('of the app come first, but a secret of the schema stays one', async () => {
    const { entry, input } = await shown(
      z.object({ at: z.iso.datetime(), key: secret }),
      { at: '2026-11-26T08:00:00Z', key: 'abcdef' },
      {
        formats: {
          act: [
            { path: ['at'], format: { type: 'code' } },
            { path: ['key'], format: { type: 'code' } },
          ],
        },
      },
    );
    expect(entry.formats).toEqual([
      { path: ['at'], format: { type: 'code' } },
      { path: ['key'], format: { type: 'secret' } },
    ]);
    expect(input).toMatchObject({ key: '••••••' });
  });

  test('of a tool of an MCP server hide nothing, also where a request carries its schema', async () => {
    const hidden = { type: 'string', format: 'password', writeOnly: true } as const;
    const note = { type: 'string', 'x-holdpoint-format': { type: 'secret' } } as const;
    const act = {
      ...dynamicTool({
        inputSchema: jsonSchema({ type: 'object', properties: { to: hidden, note } }),
        execute: () => 'Done.',
      }),
      metadata: { clientName: 'bank' },
    };
    const input = { to: 'ACME', note: 'A key: s3cr3t' };
    const agent = createAgent({
      model: scriptedModel([{ calls: [{ id: 'c1', name: 'act', input }] }]).model,
      tools: { act },
      toolApproval: { act: { type: 'user-approval', editable: ['to'] } },
    });
    await agent.run('Act.', await agent.thread('t1'), { principal: 'eve' });
    const entry = only((await inboxOf(agent, {}).list('ben')).entries);
    expect(entry.request?.toolCall?.input).toEqual(input);
    expect(entry).toMatchObject({ masked: [], formats: [] });
    const [request] = (await agent.thread('t1')).activeApprovalRequests;
    expect(readSchemaFormats(request?.inputSchema)).toEqual([]);
  });

  test('of a tool with the name of a property of every object are none', async () => {
    const { entry } = await shown(z.object({}), {}, { formats: {}, details: {} });
    expect([entry.formats, entry.details]).toEqual([[], []]);
  });
});

/* The input, and what of it is shown: where secrets are, and what they are. */
const masks: [
  what: string,
  schema: z.ZodType,
  input: object,
  expected: object,
  masked: string[][],
][] = [
  [
    'in a list',
    z.object({ keys: z.array(secret) }),
    { keys: ['first-key', 'second-key'] },
    { keys: ['••••••', '••••••'] },
    [
      ['keys', '0'],
      ['keys', '1'],
    ],
  ],
  [
    'that is an object',
    z.object({ login: z.object({ user: z.string(), ok: z.boolean() }).meta({ writeOnly: true }) }),
    { login: { user: 'ada', ok: true } },
    { login: '••••••' },
    [['login']],
  ],
  [
    'that is a truth value',
    z.object({ isRich: z.boolean().meta({ writeOnly: true }) }),
    { isRich: true },
    { isRich: '••••••' },
    [['isRich']],
  ],
  [
    'that another argument quotes',
    z.object({ key: secret, url: z.string() }),
    { key: 'hunter2', url: 'https://ada:hunter2@db.example' },
    { key: '••••••', url: '••••••' },
    [['key'], ['url']],
  ],
  [
    'that is a name in another object',
    z.object({ key: secret, map: z.record(z.string(), z.number()) }),
    { key: 'hunter2', map: { hunter2: 1 } },
    { key: '••••••', map: { '••••••': 1 } },
    [['key']],
  ],
  [
    'that is short, and by chance part of a word',
    z.object({ pin: secret, note: z.string(), code: z.string() }),
    { pin: '12', note: 'room 1234', code: '12' },
    { pin: '••••••', note: 'room 1234', code: '••••••' },
    [['pin'], ['code']],
  ],
  [
    'with what means something in a pattern',
    z.object({ pin: secret, note: z.string() }),
    { pin: '.*', note: 'anything' },
    { pin: '••••••', note: 'anything' },
    [['pin']],
  ],
  [
    'that is a name in another object, whose value quotes it',
    z.object({ key: secret, map: z.record(z.string(), z.string()) }),
    { key: 'hunter2', map: { hunter2: 'Is hunter2.' } },
    { key: '••••••', map: { '••••••': '••••••' } },
    [['key'], ['map', '••••••']],
  ],
  [
    'that is a name beside another secret',
    z.object({ keys: z.array(secret), map: z.record(z.string(), z.number()) }),
    { keys: ['hunter2', 'hunter3'], map: { hunter2: 1, hunter3: 2, '••••••': 3 } },
    { keys: ['••••••', '••••••'], map: { '•••••• 2': 1, '•••••• 3': 2, '••••••': 3 } },
    [
      ['keys', '0'],
      ['keys', '1'],
    ],
  ],
  [
    'in what a schema that refers to itself has within itself',
    nested,
    { pin: 'hunter2', parts: [{ pin: 'hunter3' }] },
    { pin: '••••••', parts: [{ pin: '••••••' }] },
    [['pin'], ['parts', '0', 'pin']],
  ],
  ['that is not there', z.object({ pin: secret.nullable() }), { pin: null }, { pin: null }, []],
];

test.each(pickCases(masks, 3))(
  'a secret %s is masked',
  async (_, schema, given, expected, masked) => {
    const { entry, input } = await shown(schema, given);
    expect(input).toEqual(expected);
    expect(entry.masked).toEqual(masked);
  },
);

/** A list in a list, so many deep, around a value. */
const wrap = (depth: number, value: unknown): unknown =>
  Array.from({ length: depth }).reduce((inner: unknown) => ({ parts: [inner] }), value);

/** Properties that nobody keeps secret. */
const dates = (count: number) =>
  Object.fromEntries(
    Array.from({ length: count }, (_each, at) => [
      `day${at}`,
      z.string().optional().meta({ format: 'date' }),
    ]),
  );

const wide = z.object({
  pin: secret.optional(),
  note: z.string().optional(),
  get a(): z.ZodType {
    return wide.optional();
  },
  get b(): z.ZodType {
    return wide.optional();
  },
});

/* What is shown where a schema is too deep, too large, or says it in words that are not read. */
const beyond: [what: string, schema: z.ZodType, input: object, kept: string][] = [
  ['deeper than schemas are read', nested, Object(wrap(20, { pin: 'hunter2' })), ''],
  [
    'after more formats than are read',
    z.object({ ...dates(600), pin: secret }),
    { pin: 'hunter2', day1: 'plain' },
    '',
  ],
  [
    'after more parts than are read',
    z.object({
      first: z.string(),
      ...Object.fromEntries(
        Array.from({ length: 11_000 }, (_each, at) => [`text${at}`, z.string().optional()]),
      ),
      pin: secret,
    }),
    { pin: 'hunter2', first: 'plain' },
    '',
  ],
  [
    'deep in a schema that has itself in two places',
    wide,
    { pin: 'hunter1', note: 'plain', a: { a: { b: { a: { b: { a: { pin: 'hunter2' } } } } } } },
    'plain',
  ],
  [
    'under a keyword that is not read',
    z
      .object({
        keys: z.looseObject({}).meta({ patternProperties: { '^k': { writeOnly: true } } }),
      })
      .extend({ note: z.string() }),
    { keys: { k1: 'hunter2' }, note: 'plain' },
    'plain',
  ],
];

test.each(pickCases(beyond, 3))(
  'a secret %s is masked with what is around it',
  async (_, schema, given, kept) => {
    const { inbox, entry } = await shown(schema, given);
    const sent = await (await inbox.send('ben', '/api/requests')).text();
    expect(sent).not.toContain('hunter2');
    expect(entry.masked).not.toEqual([]);
    expect(sent).toContain(kept);
  },
);

test.each([
  ['deep', z.lazy(() => node), wrap(20, { note: 'plain' })],
  ['large', z.object(dates(600)), { day599: 'plain' }],
  [
    'of somebody who has secrets elsewhere',
    z
      .looseObject({ note: z.string() })
      .meta({ $defs: { user: { properties: { pin: { writeOnly: true } } } } }),
    { note: 'plain' },
  ],
])('what is %s without a secret is shown', async (_, schema, given) => {
  const { entry } = await shown(schema, Object(given));
  expect(entry.masked).toEqual([]);
  expect(JSON.stringify(entry.request)).toContain('plain');
});

test('a secret of a tool of a sub-agent is masked', async () => {
  const payer = office([secretive, done], {
    name: 'payer',
    toolApproval: { pay: { type: 'user-approval', approvers: ['finance'] } },
  });
  const asked = { id: 'd1', name: 'payer', input: { prompt: 'Pay.' } };
  const boss = createAgent({
    name: 'boss',
    model: scriptedModel([{ calls: [asked] }]).model,
    store: payer.store,
    tools: { payer: agentTool(payer.agent, { description: 'Pays.' }) },
    mayAnswer: () => true,
  });
  await boss.run('Pay.', await boss.thread('t1'), { principal: 'eve' });
  const entry = only((await inboxOf(boss).list('ben')).entries);
  expect(entry).toMatchObject({
    masked: [['pin']],
    request: { toolCall: { input: { to: 'ACME', euros: 1, pin: '••••••' } } },
  });
});

test('a secret that an edit took away is masked where the edit quotes it', async () => {
  const at = office([secretive, done], {
    toolApproval: {
      pay: {
        type: 'user-approval',
        text: (input) => `Pay ${JSON.stringify(input)}?`,
        editable: true,
        quorum: 2,
      },
    },
    mayAnswer: () => true,
  });
  await at.ask('t1');
  const thread = await at.agent.thread('t1');
  const edited = { input: { to: 'ACME', euros: 1 } };
  const answers = thread.activeApprovalRequests.map((request) => request.approve(edited));
  await at.agent.respond(answers, thread, { principal: 'ada' });
  const inbox = inboxOf(at.agent);
  expect(await (await inbox.send('ben', '/api/requests')).text()).not.toContain('4711');
  const entry = only((await inbox.list('ben')).entries);
  expect(entry).toMatchObject({ masked: [['pin']], rights: { mayEdit: false } });
  expect(only(await inbox.answer('ben', [{ entry, answer: yes(entry) }]))).toMatchObject({
    status: 'recorded',
    entry: { state: 'approved' },
  });
});

test('a secret of several lines is masked where the text quotes it as JSON', async () => {
  const key = 'first "line"\nsecond';
  const { entry } = await shown(z.object({ key: secret }), { key });
  expect(entry.request?.text).toBe('{"key":"••••••"}');
});

test.each([
  ['names itself', { $ref: '#/$defs/self' }],
  ['may be itself', { anyOf: [{ $ref: '#/$defs/self' }, { format: 'date' }] }],
  [
    'has itself in many places',
    {
      format: 'date',
      properties: Object.fromEntries(
        ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => [name, { $ref: '#/$defs/self' }]),
      ),
    },
  ],
])('a schema that %s has an end', (_, self) => {
  const formats = readSchemaFormats({ $defs: { self }, properties: { x: self } });
  expect(formats.length).toBeLessThanOrEqual(500);
});

const key = { properties: { key: { writeOnly: true } } };

test.each<[what: string, schema: object, path: string[]]>([
  [
    'after too many alternatives',
    { anyOf: [...Array.from({ length: 10_001 }, () => ({})), key] },
    [],
  ],
  [
    'where a condition holds',
    JSON.parse('{"then":{"properties":{"key":{"writeOnly":true}}}}'),
    ['key'],
  ],
  ['where a condition does not hold', { else: key }, ['key']],
  ['in a tuple of an older draft', { items: [{}, key] }, ['*', 'key']],
  ['beside another argument', { dependentSchemas: { other: key } }, []],
  ['in a schema that is named', { not: { $ref: '#/$defs/k' }, $defs: { k: key } }, []],
  [
    'with a name that is a keyword',
    { properties: { default: { oneOf: [key] } } },
    ['default', 'key'],
  ],
])('a schema with a secret %s has one at its place, or around it', (_, schema, path) => {
  expect(readSchemaFormats(schema)).toContainEqual({ path, format: { type: 'secret' } });
});

describe('details of the app', () => {
  const schema = z.object({ file: z.string() });
  const input = { file: '<img src=x onerror=alert(1)>' };

  test.each([
    [
      'throws',
      () => {
        throw new Error('The disk is full.');
      },
    ],
    ['rejects', async () => Promise.reject(new Error('The disk is full.'))],
    ['returns HTML', () => '<b>bold</b>'],
    ['returns an unknown kind', () => [{ type: 'html', label: 'a', text: '<b>' }]],
    ['returns a link that runs', () => [{ type: 'link', label: 'a', url: 'javascript:alert(1)' }]],
    ['returns a link to another host', () => [{ type: 'link', label: 'a', url: '//evil.example' }]],
    ['returns nothing', () => undefined],
  ])('whose function %s are said not to be there, and hide no argument', async (_, make) => {
    const { inbox, entry } = await shown(schema, input, {
      details: { act: (...given) => Reflect.apply(make, undefined, given) },
    });
    expect(entry.details).toEqual([{ type: 'text', label: 'Details', text: 'could not be made' }]);
    expect(entry.request?.toolCall?.input).toEqual(input);
    expect(inbox.errors).toHaveLength(1);
  });

  test('are made from the input that would run', async () => {
    const { entry } = await shown(schema, input, {
      details: {
        act: async (given) => [
          {
            type: 'diff',
            label: 'File',
            before: '',
            after: String(Reflect.get(Object(given), 'file')),
          },
          { type: 'link', label: 'Invoice', url: '/invoices/7' },
        ],
      },
    });
    expect(entry.details).toEqual([
      { type: 'diff', label: 'File', before: '', after: input.file },
      { type: 'link', label: 'Invoice', url: '/invoices/7' },
    ]);
  });
});

test.each([
  ['a path', '/threads/t1', '/threads/t1'],
  ['a URL', 'https://app.example/t1', 'https://app.example/t1'],
  ['nothing', undefined, undefined],
  ['a script', 'javascript:alert(1)', undefined],
  ['another host', '//evil.example/t1', undefined],
])('a source that is %s', async (_, url, expected) => {
  const { entry, inbox } = await shown(z.object({}), {}, { sourceUrl: () => url });
  expect(entry.sourceUrl).toBe(expected);
  expect(inbox.errors).toHaveLength(url !== undefined && expected === undefined ? 1 : 0);
});

test('people are named without what their principals have besides', async () => {
  const at = office([{ calls: [pay('c1', { to: 'ACME', euros: 1 })] }], {
    toolApproval: { pay: { type: 'user-approval', quorum: 2 } },
    mayAnswer: () => true,
  });
  await at.ask('t1');
  const thread = await at.agent.thread('t1');
  const answers = thread.activeApprovalRequests.map((request) => request.approve());
  await at.agent.respond(answers, thread, { principal: { id: 'ada', token: 'top-secret' } });
  const inbox = inboxOf(at.agent);
  const text = await (await inbox.send('ben', '/api/requests')).text();
  expect(text).toContain('"person":"ada"');
  expect(text).not.toContain('top-secret');
});

test('whoever has asked for a request, or decided it, is named without the rest of the principal', async () => {
  const at = office([{ calls: [pay('c1', { to: 'ACME', euros: 1 })] }], {
    principalId: (principal) => String(Reflect.get(Object(principal), 'account')),
    mayAnswer: () => true,
  });
  await at.ask('t1', { account: 'eve', token: 'top-secret' });
  const inbox = inboxOf(at.agent, {
    authorize: ({ request }) => ({
      principal: { account: request.headers.get('cookie'), token: 'top-secret' },
    }),
  });
  const entry = only((await inbox.list('ben')).entries);
  const open = only((await inbox.list('cleo')).entries);
  expect(open.requesters).toEqual(['eve']);
  expect(JSON.stringify(open)).not.toContain('top-secret');
  await inbox.answer('ben', [{ entry, answer: yes(entry) }]);
  const decided = only((await inbox.list('cleo', 'list=decided')).entries);
  expect(decided.decidedBy).toBe('ben');
  expect(JSON.stringify(decided)).not.toContain('top-secret');
});

test('whoever asked is named by name and id', async () => {
  const at = office([{ calls: [pay('c1', { to: 'ACME', euros: 1 })] }], { mayAnswer: () => true });
  await at.ask('t1', { id: 'u7', name: 'Eve', token: 'top-secret' });
  const inbox = inboxOf(at.agent);
  const entry = only((await inbox.list('ben')).entries);
  expect(entry.request).toMatchObject({ requestedBy: { id: 'u7', name: 'Eve' } });
  expect(JSON.stringify(entry)).not.toContain('top-secret');
  expect(only(await inbox.answer('ben', [{ entry, answer: yes(entry) }])).status).toBe('recorded');
});
