import { tool } from 'ai';
import { createAgent } from 'holdpoint';
import { createInboxHandler } from 'holdpoint/inbox';
import { createLinks } from 'holdpoint/links';
import { scriptedModel } from 'holdpoint/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';

/* A URL writes it in another way. */
const secret = 'p@ss-word-4711';
const forms = [secret, encodeURIComponent(secret)];
const password = z.string().meta({ format: 'password' });
const mapOf = (value: object) => new Map(Object.entries(value));

const asBen = () => ({ principal: 'ben' });

const connections: [made: string, inputSchema: z.ZodType, input: object][] = [
  ['of the same shape', z.object({ pin: password }), { pin: secret }],
  ['where it is a URL', z.object({ pin: password.transform(toUrl) }), { pin: secret }],
  ['with it in another field', z.object({ pin: password }).transform(moveToUrl), { pin: secret }],
  [
    'with it in a Map',
    z.object({ login: z.object({ pin: password }).transform(mapOf) }),
    { login: { pin: secret } },
  ],
];

function toUrl(pin: string): URL {
  return Object.assign(new URL('https://db.example/'), { password: pin });
}

function moveToUrl({ pin }: { pin: string }) {
  return { url: toUrl(pin) };
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
