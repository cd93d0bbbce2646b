import { createInboxHandler, type InboxHandlerOptions } from 'holdpoint/inbox';
import { createAgent, memoryStore } from 'holdpoint';
import { scriptedModel } from 'holdpoint/testing';
import { describe, expect, test } from 'vitest';
import { inboxErrorSchema } from '../../src/apps/inbox/inbox-api.ts';
import { inboxOf, office, only, origin, pay, shownOf, yes } from './inbox-site.ts';
import { pickCases } from '../support/sampling.ts';

const acme = { calls: [pay('c1', { to: 'ACME', euros: 500 })] };
const json = { 'content-type': 'application/json' };

/** An inbox in which a request waits for Ben, and a body that would approve it. */
async function waiting(options: Partial<InboxHandlerOptions> = {}) {
  const at = office([acme, { text: 'Done.' }]);
  await at.ask('t1');
  const inbox = inboxOf(at.agent, options);
  const entry = only((await inbox.list('ben')).entries);
  const viewer = await inbox.viewerOf('ben');
  const body = { viewer, answers: [{ ...shownOf(entry), answer: yes(entry) }] };
  const isOpen = async () =>
    (await at.agent.thread('t1')).activeRequests.length === 1 && at.paid.length === 0;
  return { ...at, inbox, entry, viewer, body, isOpen };
}

type Waiting = Awaited<ReturnType<typeof waiting>>;

/** What is sent in the name of whom, made of what would be right. */
type Sent = [name: string | null, path: string, init?: RequestInit];

const post = (body: unknown, headers: object = {}): RequestInit => ({
  method: 'POST',
  body: typeof body === 'string' ? body : JSON.stringify(body),
  headers: { ...json, ...headers },
});

const answers = '/api/answers';

const refusals: [what: string, status: number, code: string, sent: (at: Waiting) => Sent][] = [
  ['nobody who is signed in', 403, 'not-allowed', () => [null, '/api/requests']],
  ['the page, for nobody', 403, 'not-allowed', () => [null, '']],
  ['a blank name', 403, 'not-allowed', () => [' ', '/api/counts']],
  ['an answer of nobody', 403, 'not-allowed', ({ body }) => [null, answers, post(body)]],
  [
    'an answer of somebody else with the viewer of the person who was shown it',
    403,
    'other-viewer',
    ({ body }) => ['cleo', answers, post(body)],
  ],
  [
    'a list that was loaded for somebody else',
    403,
    'other-viewer',
    ({ viewer }) => ['cleo', `/api/requests?viewer=${viewer}`],
  ],
  [
    'a viewer that nobody is',
    403,
    'other-viewer',
    ({ body }) => ['ben', answers, post({ ...body, viewer: 'ben' })],
  ],
  [
    'a page of another site that posts',
    403,
    'foreign-origin',
    ({ body }) => ['ben', answers, post(body, { origin: 'https://evil.example' })],
  ],
  [
    'a page of another site that reads',
    403,
    'foreign-origin',
    () => ['ben', '/api/requests', { headers: { origin: 'https://evil.example' } }],
  ],
  [
    'a page in a sandbox',
    403,
    'foreign-origin',
    ({ body }) => ['ben', answers, post(body, { origin: 'null' })],
  ],
  [
    'a form of another site',
    415,
    'unsupported-media-type',
    ({ body }) => ['ben', answers, post(body, { 'content-type': 'text/plain' })],
  ],
  ['a long body', 413, 'too-large', () => ['ben', answers, post(`"${'x'.repeat(1_048_576)}"`)]],
  ['a body that is no JSON', 400, 'invalid-input', () => ['ben', answers, post('{bad')]],
  [
    'a body without answers',
    400,
    'invalid-input',
    ({ viewer }) => ['ben', answers, post({ viewer })],
  ],
  [
    'an empty batch',
    400,
    'invalid-input',
    ({ viewer }) => ['ben', answers, post({ viewer, answers: [] })],
  ],
  [
    'a filter instead of ids',
    400,
    'invalid-input',
    ({ body }) => ['ben', answers, post({ ...body, list: 'mine' })],
  ],
  [
    'a principal that the client sends',
    400,
    'invalid-input',
    ({ body }) => ['ben', answers, post({ ...body, principal: 'dora' })],
  ],
  [
    'a principal in an answer',
    400,
    'invalid-input',
    ({ body: { viewer, answers: given } }) => [
      'ben',
      answers,
      post({ viewer, answers: given.map((each) => ({ ...each, principal: 'dora' })) }),
    ],
  ],
  [
    'an approval that is only truthy',
    400,
    'invalid-input',
    ({ viewer, entry }) => [
      'ben',
      answers,
      post({
        viewer,
        answers: [{ ...shownOf(entry), answer: { ...yes(entry), approved: 'true' } }],
      }),
    ],
  ],
  ['a principal in a query', 400, 'invalid-input', () => ['ben', '/api/requests?principal=dora']],
  ['a request with a NUL', 404, 'not-found', () => ['ben', '/api/requests/%00']],
  ['a filter with a NUL', 400, 'invalid-input', () => ['ben', '/api/requests?agent=%00']],
  ['a list that does not exist', 400, 'invalid-input', () => ['ben', '/api/requests?list=theirs']],
  ['a limit beyond the highest', 400, 'invalid-input', () => ['ben', '/api/requests?limit=1000']],
  ['a place that is none', 400, 'invalid-input', () => ['ben', '/api/requests?after=there']],
  ['a position that is none', 400, 'invalid-input', () => ['ben', '/api/changes?after=-1']],
  ['a request that does not exist', 404, 'not-found', () => ['ben', '/api/requests/other']],
  [
    'a request that the person may not see',
    404,
    'not-found',
    ({ entry }) => ['zed', `/api/requests/${entry.requestId}`],
  ],
  ['another path', 404, 'not-found', () => ['ben', '/api/other']],
  ['a path beside the inbox', 404, 'not-found', () => ['ben', '/../inboxes']],
  ['a path with another encoding', 400, 'invalid-input', () => ['ben', '/api/requests/%ff']],
  ['PUT', 405, 'method-not-allowed', () => ['ben', '/api/requests', { method: 'PUT' }]],
  ['an answer by GET', 405, 'method-not-allowed', () => ['ben', answers]],
  [
    'an action that does not exist',
    400,
    'invalid-input',
    ({ viewer, entry }) => [
      'ben',
      '/api/actions',
      post({ viewer, ...shownOf(entry), action: { type: 'approve' } }),
    ],
  ],
];

test.each(pickCases(refusals, 3))(
  'refuses %s with %i %s, and records nothing',
  async (_, status, code, sent) => {
    const at = await waiting();
    const [name, path, init] = sent(at);
    const response = await at.inbox.send(name, path, init);
    const { error } = inboxErrorSchema.parse(await response.json());
    expect([response.status, error.code]).toEqual([status, code]);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(await at.isOpen()).toBe(true);
  },
);

test('the same answer by the person who was shown it is recorded', async () => {
  const { inbox, body, isOpen } = await waiting();
  const response = await inbox.send('ben', answers, post(body, { origin }));
  expect([response.status, await response.json()]).toMatchObject([
    200,
    { outcomes: [{ status: 'recorded' }] },
  ]);
  expect(await isOpen()).toBe(false);
});

test('a page of an origin that the app allows may answer', async () => {
  const { inbox, body } = await waiting({ allowedOrigins: ['https://chat.example'] });
  const response = await inbox.send('ben', answers, post(body, { origin: 'https://chat.example' }));
  expect(response.status).toBe(200);
});

describe('the page', () => {
  test('is HTML with its files, under a strict policy', async () => {
    const { inbox } = await waiting();
    const response = await inbox.send('ben', '');
    const html = await response.text();
    expect(html).toContain('<script type="module" src="/inbox/page.js"></script>');
    expect(html).toContain('<link rel="stylesheet" href="/inbox/page.css">');
    expect(html).toContain('<div id="root"></div>');
    /* Otherwise browsers ask for an icon that is not there. */
    expect(html).toContain('<link rel="icon" href="data:,">');
    expect(html).not.toMatch(/style=|<style|javascript:|ben/);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy':
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
      'referrer-policy': 'no-referrer',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
    });
  });

  test('has files that browsers keep until they change', async () => {
    const { inbox } = await waiting();
    for (const [name, type] of [
      ['page.js', 'text/javascript; charset=utf-8'],
      ['page.css', 'text/css; charset=utf-8'],
    ] as const) {
      const response = await inbox.send(null, `/${name}`);
      expect([response.status, response.headers.get('content-type')]).toEqual([200, type]);
      const etag = response.headers.get('etag') ?? '';
      const again = await inbox.send(null, `/${name}`, { headers: { 'if-none-match': etag } });
      expect([again.status, await again.text()]).toEqual([304, '']);
    }
  });

  test("has the app's stylesheet after its own, and may be framed by whom the app names", async () => {
    const { inbox } = await waiting({
      stylesheet: 'https://cdn.example/a.css?x=1&"y"',
      frameAncestors: ["'self'", 'https://intranet.example'],
    });
    const response = await inbox.send('ben', '');
    expect(await response.text()).toMatch(
      /page\.css">\n<link rel="stylesheet" href="https:\/\/cdn\.example\/a\.css\?x=1&#38;&#34;y&#34;">/,
    );
    const policy = response.headers.get('content-security-policy') ?? '';
    expect(policy).toContain("style-src 'self' https://cdn.example;");
    expect(policy).toContain("frame-ancestors 'self' https://intranet.example");
    expect(response.headers.get('x-frame-options')).toBeNull();
  });

  test('is where the app has mounted it, and leads to its sign-in', async () => {
    const { agent } = office([]);
    const handler = createInboxHandler({
      agents: [agent],
      path: '/ops/approvals',
      authorize: () => Response.redirect(`${origin}/sign-in`),
    });
    const response = await handler(new Request(`${origin}/ops/approvals`));
    expect([response.status, response.headers.get('location')]).toEqual([302, `${origin}/sign-in`]);
    expect((await handler(new Request(`${origin}/inbox`))).status).toBe(404);
  });
});

const { agent, store } = office([]);
const authorize = () => undefined;
const { model } = scriptedModel([]);

test.each<[string, object, RegExp]>([
  ['no agents and no store', {}, /either `agents`, or `store`/],
  ['both', { agents: [agent], store }, /either `agents`, or `store`/],
  ['no agent', { agents: [] }, /at least one agent/],
  ['an object around an agent', { agents: [{ ...agent, name: 'x' }] }, /createAgent made/],
  [
    'agents of two stores',
    { agents: [agent, createAgent({ model, name: 'other' })] },
    /share one store/,
  ],
  [
    'two agents of a name',
    { agents: [agent, createAgent({ model, name: 'office', store })] },
    /the same name/,
  ],
  ['mayAnswer beside agents', { agents: [agent], mayAnswer: () => true }, /`mayAnswer`/],
  [
    'a store without requests',
    { store: { ...memoryStore(), requests: undefined } },
    /keeps requests/,
  ],
  ['no authorize', { agents: [agent], authorize: undefined }, /'authorize'/],
  ['a misspelled option', { agents: [agent], maySea: () => true }, /did you mean 'maySee'/],
  ['a path with a slash at its end', { agents: [agent], path: '/inbox/' }, /path must be/],
  ['a path that is markup', { agents: [agent], path: '/"><script>' }, /path must be/],
  ['an origin that is none', { agents: [agent], allowedOrigins: ['app'] }, /allowedOrigins/],
  ['a frame that is any', { agents: [agent], frameAncestors: ['*'] }, /frameAncestors/],
  [
    'a frame with a policy of its own',
    { agents: [agent], frameAncestors: ["https://a.example; script-src 'unsafe-inline'"] },
    /frameAncestors/,
  ],
  ['a stylesheet that is a script', { agents: [agent], stylesheet: 'javascript:1' }, /stylesheet/],
  [
    'a stylesheet of another host',
    { agents: [agent], stylesheet: '//cdn.example/a' },
    /stylesheet/,
  ],
  ['a format that is none', { agents: [agent], formats: { pay: [{ path: [] }] } }, /formats/],
  ['a limit that is none', { agents: [agent], maximumBodyBytes: NaN }, /maximumBodyBytes/],
  ['a time that no timer keeps', { agents: [agent], keepAliveMs: 2 ** 31 }, /keepAliveMs/],
])('%s is a TypeError', (_, options, message) => {
  const create = () => Reflect.apply(createInboxHandler, undefined, [{ authorize, ...options }]);
  expect(create).toThrow(TypeError);
  expect(create).toThrow(message);
});
