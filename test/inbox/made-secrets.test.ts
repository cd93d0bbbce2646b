import { tool } from 'ai';
import { createAgent } from 'holdpoint';
import { createInboxHandler } from 'holdpoint/inbox';
import { createLinks } from 'holdpoint/links';
import { scriptedModel } from 'holdpoint/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';

/* A URL and a header write it in other ways. */
const secret = 'p@ss-word-4711';
const forms = [secret, encodeURIComponent(secret), btoa(secret)];
const password = z.string().meta({ format: 'password' });
const mapOf = (value: object) => new Map(Object.entries(value));

const asBen = () => ({ principal: 'ben' });

const connections: [made: string, inputSchema: z.ZodType, input: object][] = [
  ['of the same shape', z.object({ pin: password }), { pin: secret }],
  ['where it is a URL', z.object({ pin: password.transform(toUrl) }), { pin: secret }],
  [
    'with it in another field',
    z.object({ pin: password }).transform(moveToHeader),
    { pin: secret },
  ],
  [
    'of one that may be null',
    z.object({ pin: password.nullable() }).transform(({ pin }) => moveToHeader({ pin: pin ?? '' })),
    { pin: secret },
  ],
  [
    'of one that may be left out',
    z.looseObject({ pin: password.optional() }).transform(({ pin = '' }) => moveToHeader({ pin })),
    { pin: secret },
  ],
  [
    'of one in each kind of input',
    z
      .discriminatedUnion('kind', [
        z.object({ kind: z.literal('user'), pin: password }),
        z.object({ kind: z.literal('robot'), pin: password }),
      ])
      .transform(moveToHeader),
    { kind: 'user', pin: secret },
  ],
  [
    'with it in a Map',
    z.object({ login: z.object({ pin: password }).transform(mapOf) }),
    { login: { pin: secret } },
  ],
];

function toUrl(pin: string): URL {
  return Object.assign(new URL('https://db.example/'), { password: pin });
}

function moveToHeader({ pin }: { pin: string }) {
  return { header: `Basic ${btoa(pin)}` };
}

test.each(connections)(
  'a secret that the schema has made a value %s of leaves the server nowhere',
  async (_made, inputSchema, input) => {
    const script = [{ calls: [{ id: 'c1', name: 'connect', input }] }, { text: 'Connected.' }];
    const { model } = scriptedModel(script);
    const connect = tool({ inputSchema, execute: async () => 'ok' });
    const toolApproval = { connect: 'user-approval' } as const;
    const agent = createAgent({ name: 'office', model, tools: { connect }, toolApproval });
    const asked = await agent.run(`The password is ${secret}.`, await agent.thread('t'));
    const [request] = asked.approvalRequests;
    if (request === undefined) throw new Error('Nothing was asked.');
    const inbox = createInboxHandler({ agents: [agent], authorize: asBen, maySee: () => true });
    const get = async (path: string) =>
      (await inbox(new Request(`https://app.example/inbox/api/requests${path}`))).text();
    const k = Buffer.from('k'.repeat(32)).toString('base64url');
    const links = createLinks({
      agents: [agent],
      url: 'https://app.example/answer',
      keys: [{ kty: 'oct', kid: 'k', alg: 'HS256', k }],
    });
    const link = await links.create(request, { principal: 'ben' });
    const page = await links.handler(new Request(link));
    const texts = [await get(''), await get(`/${request.requestId}`), await page.text()];
    for (const text of texts) {
      expect(text).toContain('connect');
      for (const form of forms) expect(text).not.toContain(form);
    }
  },
);

test('a secret that may be left out hides nothing where it is', async () => {
  const inputSchema = z.object({ pin: password.optional(), host: z.string() });
  const input = { host: 'db.example' };
  const { model } = scriptedModel([{ calls: [{ id: 'c1', name: 'connect', input }] }]);
  const tools = { connect: tool({ inputSchema, execute: async () => 'ok' }) };
  const agent = createAgent({
    name: 'office',
    model,
    tools,
    toolApproval: { connect: 'user-approval' },
  });
  await agent.run('Connect.', await agent.thread('t'));
  const inbox = createInboxHandler({
    agents: [agent],
    authorize: asBen,
    maySee: () => true,
  });
  const page = await inbox(new Request('https://app.example/inbox/api/requests'));
  expect(await page.json()).toMatchObject({ entries: [{ request: { toolCall: { input } } }] });
});

test('a secret that a person has replaced leaves the server nowhere', async () => {
  const script = [secret, 'another-word'].map((pin, index) => ({
    calls: [{ id: `c${index}`, name: 'connect', input: { pin } }],
  }));
  const { model } = scriptedModel(script);
  const inputSchema = z.object({ pin: password });
  const tools = { connect: tool({ inputSchema, execute: async () => 'ok' }) };
  const toolApproval = { connect: { type: 'user-approval', editable: true } } as const;
  const agent = createAgent({ name: 'office', model, tools, toolApproval });
  const thread = await agent.thread('t');
  const asked = await agent.run(`The password is ${secret}.`, thread);
  const edits = asked.approvalRequests.map((request) =>
    request.approve({ input: { pin: 'a-new-word' } }),
  );
  const [next] = (await agent.run(edits, thread)).approvalRequests;
  const inbox = createInboxHandler({ agents: [agent], authorize: asBen, maySee: () => true });
  const url = `https://app.example/inbox/api/requests/${next?.requestId}`;
  const text = await (await inbox(new Request(url))).text();
  expect(text).toContain('The password is');
  expect(text).not.toContain(secret);
});
