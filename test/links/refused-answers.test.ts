import { createHash } from 'node:crypto';
import type { MayAnswer } from 'holdpoint';
import { createLinks } from 'holdpoint/links';
import { expect, test } from 'vitest';
import { openDesk, secretKey, url, Visitor } from './link-desk.ts';
import { pickCases } from '../support/sampling.ts';

type Headers = Record<string, string>;
type Fields = Record<string, string> | [string, string][];

const own = { 'sec-fetch-site': 'same-origin', origin: 'null' };
const asText = { 'content-type': 'text/plain' };

/** What is posted to a link that is valid, with the code of its page, and is not what its page sends. */
const notOfThePage: [string, number, (code: string) => { fields: Fields; headers?: Headers }][] = [
  ['without a code', 403, () => ({ fields: { action: 'approve' } })],
  ['with a guessed code', 403, () => ({ fields: { action: 'approve', code: 'x' } })],
  [
    'with two codes',
    403,
    (code) => ({
      fields: [
        ['action', 'approve'],
        ['code', 'x'],
        ['code', code],
      ],
    }),
  ],
  ['without an action', 403, (code) => ({ fields: { code } })],
  [
    'with two actions',
    403,
    (code) => ({
      fields: [
        ['action', 'reject'],
        ['action', 'approve'],
        ['code', code],
      ],
    }),
  ],
  ['with an action of another page', 403, (code) => ({ fields: { action: 'answer', code } })],
  [
    'that skips the first page',
    403,
    (code) => ({ fields: { action: 'confirm', read: 'yes', code } }),
  ],
  ['with an input', 403, (code) => ({ fields: { action: 'approve', code, input: '{"euros":1}' } })],
  ['with a principal', 403, (code) => ({ fields: { action: 'approve', code, principal: 'ben' } })],
  ['with a digest', 403, (code) => ({ fields: { action: 'approve', code, digest: 'x' } })],
  [
    'with a field of a question',
    403,
    (code) => ({ fields: { action: 'approve', code, 'text.0': 'x' } }),
  ],
  [
    'of another site',
    403,
    (code) => ({
      fields: { action: 'approve', code },
      headers: { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' },
    }),
  ],
  [
    'of another host of the same site',
    403,
    (code) => ({
      fields: { action: 'approve', code },
      headers: { 'sec-fetch-site': 'same-site', origin: 'https://app.example' },
    }),
  ],
  [
    'of another site, in an old browser',
    403,
    (code) => ({
      fields: { action: 'approve', code },
      headers: { origin: 'https://evil.example' },
    }),
  ],
  [
    'of a page in a sandbox, in an old browser',
    403,
    (code) => ({ fields: { action: 'approve', code }, headers: { origin: 'null' } }),
  ],
  [
    'of a program that only repeats the address',
    403,
    (code) => ({ fields: { action: 'approve', code }, headers: {} }),
  ],
  [
    'as a text',
    415,
    (code) => ({ fields: { action: 'approve', code }, headers: { ...own, ...asText } }),
  ],
  [
    'as JSON',
    415,
    (code) => ({
      fields: { action: 'approve', code },
      headers: { ...own, 'content-type': 'application/json' },
    }),
  ],
  [
    'that is too long',
    413,
    (code) => ({ fields: { action: 'approve', code, reason: 'x'.repeat(1_048_576) } }),
  ],
];

test.each(pickCases(notOfThePage, 3))(
  'a form %s is refused with %i, and nothing is recorded',
  async (_what, status, make) => {
    const { invite, answers, errors, thread, agent } = await openDesk();
    const ada = await invite('ada');
    const { hidden } = await ada.send();
    const { fields, headers } = make(hidden['code'] ?? '');
    const page = await ada.post(fields, headers);
    expect(page.status).toBe(status);
    expect(page.text).toContain('Nothing was recorded.');
    expect(await answers()).toEqual([]);
    expect((await agent.thread(thread.id)).activeRequests).toHaveLength(1);
    expect(errors).toEqual([]);
    /* The same person with the same page is let in. */
    expect((await ada.post({ ...hidden, action: 'approve' })).status).toBe(200);
  },
);

test('the code of one link is of no use with another', async () => {
  const { invite, answers } = await openDesk({ rule: { quorum: 2 } });
  const [ada, ben] = [await invite('ada'), await invite('ben')];
  const { hidden } = await ada.send();
  expect((await ben.post({ ...hidden, action: 'approve' })).status).toBe(403);
  expect(await answers()).toEqual([]);
});

test('an old browser, which says the origin of a form alone, is let in from the own page', async () => {
  const { invite } = await openDesk();
  const ada = await invite('ada');
  const { hidden } = await ada.send();
  const told = await ada.post({ ...hidden, action: 'approve' }, { origin: 'https://app.example' });
  expect(told.status).toBe(200);
});

test.each(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE', 'PATCH'])(
  '%s records nothing, as often as it comes, whatever it says',
  async (method) => {
    const { invite, answers, thread, agent } = await openDesk();
    const ada = await invite('ada');
    const { hidden } = await ada.send();
    const query = new URLSearchParams({ ...hidden, action: 'approve' });
    for (const link of [ada.link, `${ada.link}?${query.toString()}`]) {
      for (let times = 0; times < 3; times += 1) {
        const page = await ada.send({ method, headers: own }, link);
        expect(page.status).toBe({ GET: 200, HEAD: 200, OPTIONS: 204 }[method] ?? 405);
        expect(page.markup === '').toBe(method !== 'GET');
      }
    }
    expect(await answers()).toEqual([]);
    expect((await agent.thread(thread.id)).revision).toBe(thread.revision);
  },
);

test('each page forbids to keep, find, frame and script it, and says nowhere where it was', async () => {
  const { invite } = await openDesk();
  const ada = await invite('ada');
  const pages = [
    await ada.send(),
    await ada.send({ method: 'HEAD' }),
    await ada.send({ method: 'OPTIONS' }),
    await ada.send({ method: 'PUT' }),
    await ada.send({}, `${url}/x`),
    await ada.post({}),
    await ada.press('approve'),
    await ada.press('approve'),
  ];
  for (const { headers, markup } of pages) {
    expect(Object.fromEntries(headers)).toMatchObject({
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      'x-robots-tag': 'noindex, nofollow, noarchive',
      'x-content-type-options': 'nosniff',
      'x-frame-options': 'DENY',
      'content-security-policy': expect.stringMatching(
        /^default-src 'none'; style-src 'sha256-[\w+/]{43}='; form-action 'self'; base-uri 'none'; frame-ancestors 'none'$/,
      ),
    });
    expect(markup).not.toContain('<script');
    expect(markup).not.toContain(ada.link.slice(url.length + 1));
  }
});

test('the style is the only thing that a page may have, by its hash', async () => {
  const { invite, links } = await openDesk();
  const { link } = await invite('ada');
  const response = await links.handler(new Request(link));
  const [, style = ''] = /<style>(.*?)<\/style>/s.exec(await response.text()) ?? [];
  const hash = createHash('sha256').update(style).digest('base64');
  expect(style).toContain('color-scheme');
  expect(response.headers.get('content-security-policy')).toContain(`style-src 'sha256-${hash}'`);
});

const excluded: [string, { mayAnswer?: MayAnswer; notRequester?: true }, string, string][] = [
  [
    'has lost the right',
    { mayAnswer: ({ principal }) => principal !== 'ada' },
    'ada',
    'waits for somebody else',
  ],
  [
    'may answer, but not by a link',
    { mayAnswer: ({ channel }) => channel !== 'link' },
    'ada',
    'waits for somebody else',
  ],
  ['has asked for it', { notRequester: true }, 'zoe', 'You asked for this'],
];

test.each(pickCases(excluded, 3))(
  'somebody who %s sees nothing of the request, and answers nothing',
  async (_who, { mayAnswer, notRequester }, person, why) => {
    let isAsked = false;
    const { invite, answers } = await openDesk({
      rule: { ...(notRequester && { notRequester }) },
      mayAnswer: (asked) => !isAsked || mayAnswer === undefined || mayAnswer(asked),
    });
    const visitor = await invite(person);
    const { hidden } = await visitor.send();
    isAsked = true;
    for (const page of [
      await visitor.send(),
      await visitor.post({ ...hidden, action: 'reject' }),
    ]) {
      expect(page.status).toBe(403);
      expect(page.text).toContain(why);
      expect(page.text).not.toContain('ACME');
    }
    expect(await answers()).toEqual([]);
  },
);

test.each(pickCases(excluded, 3))(
  'somebody who %s learns nothing of how the request ended, and who answered does',
  async (_who, { mayAnswer, notRequester }, person) => {
    let isAsked = false;
    const { invite, agent, thread, answers } = await openDesk({
      rule: { ...(notRequester && { notRequester }) },
      mayAnswer: (asked) => !isAsked || mayAnswer === undefined || mayAnswer(asked),
    });
    const visitor = await invite(person);
    const { hidden } = await visitor.send();
    const ben = await invite('ben');
    await ben.press('reject', { reason: 'ACME is closed.' });
    isAsked = true;
    const pages = [await visitor.send(), await visitor.post({ ...hidden, action: 'reject' })];
    for (const page of pages) {
      expect(page.status).toBe(410);
      expect(page.text).toContain('This request is closed There is nothing left to answer.');
      expect(page.text).not.toMatch(/ACME|ben|Rejected/);
    }
    expect((await ben.send()).text).toContain('Rejected There is nothing left to answer. By ben.');
    expect(await answers()).toMatchObject([{ principal: 'ben' }]);
    expect((await agent.thread(thread.id)).decisions).toHaveLength(1);
  },
);

test('who has lost the right since they answered still learns what came of it', async () => {
  const staff = new Set(['ada', 'ben']);
  const { invite } = await openDesk({
    rule: { quorum: 2 },
    mayAnswer: ({ principal }) => staff.has(String(principal)),
  });
  const [ada, ben] = [await invite('ada'), await invite('ben')];
  await ada.press('approve');
  await ben.press('approve');
  staff.clear();
  for (const each of [ada, ben]) expect((await each.send()).text).toContain('By ada, ben.');
});

test('who loses the right while the answer is on its way is refused', async () => {
  let asked = 0;
  const { invite, answers } = await openDesk({
    /* The page asks a few times what the person may do; then the answer itself is asked about. */
    mayAnswer: ({ response }) =>
      response.type !== 'approval-response' || response.reason !== 'late' || (asked += 1) < 0,
  });
  const ada = await invite('ada');
  const told = await ada.press('approve', { reason: 'late' });
  expect(asked).toBe(1);
  expect(told.status).toBe(409);
  expect(told.text).toContain('It was not recorded');
  expect(await answers()).toEqual([]);
});

test('what is over can’t be answered: expired, and cancelled by somebody', async () => {
  const { invite, agent, thread, clock, answers } = await openDesk({
    rule: { expiresAfterMs: 3_600_500 },
    links: { expiresInMs: 7_200_000 },
  });
  const ada = await invite('ada');
  const { hidden } = await ada.send();
  await agent.cancel(thread, 'Not now.', { principal: 'ben' });
  const told = await ada.post({ ...hidden, action: 'approve' });
  expect(told.status).toBe(409);
  expect(told.text).toContain('Cancelled It was over before: nothing was recorded now. By ben.');
  clock.now += 3_600_000;
  expect((await ada.send()).status).toBe(404);
  expect(await answers()).toEqual([]);
});

test('hostile text in every place stays text', async () => {
  const evil = `"'><img src=x onerror=alert(1)></textarea><script>\u202Etxt.exe`;
  const { invite } = await openDesk({
    calls: [
      {
        id: 'c1',
        name: 'pay',
        input: {
          to: `${evil}\n${evil}`,
          euros: 1,
          [evil]: { deep: evil },
          host: 'https://p\u0430ypal.com',
        },
      },
    ],
    rule: {
      text: evil,
      reason: evil,
      risk: 'critical',
      requireReason: true,
      quorum: 2,
      editable: true,
      metadata: { evil },
    },
    links: { inboxUrl: 'https://app.example/"onclick="x' },
  });
  const [ada, ben] = [await invite(evil), await invite({ id: 'ben', name: evil })];
  const first = await ada.press('approve', { reason: evil });
  const voted = await ada.post({ ...first.hidden, reason: evil, action: 'confirm', read: 'yes' });
  const pages = [
    first,
    voted,
    await ada.send(),
    await ben.send(),
    await ben.press('approve', { reason: '' }),
    await ben.press('approve', { reason: evil }),
    await ben.press('reject', { reason: evil }),
  ];
  for (const { markup } of pages) {
    const tags = [...markup.matchAll(/<\/?(\w+)/g)].map(([, name]) => name);
    expect(tags).not.toContain('img');
    expect(tags).not.toContain('script');
    /* What a person types is theirs, and stays as it is. */
    expect(markup.replaceAll(/<textarea.*?<\/textarea>/g, '')).not.toContain('\u202E');
    expect(markup.match(/<textarea/g)?.length).toBe(markup.match(/<\/textarea/g)?.length);
  }
  expect(voted.status).toBe(200);
  const [, , , seen] = pages;
  expect(seen?.text).toContain('mixes Latin and Cyrillic letters');
  expect(seen?.text).toContain(String.raw`<script>\u{202e}txt.exe`);
  expect(seen?.markup).toContain('href="https://app.example/&#34;onclick=&#34;x"');
});

test('an error of the app says nothing to the visitor, and has no token', async () => {
  let isDown = false;
  const { invite, errors } = await openDesk({
    agent: {
      now: () => {
        if (isDown) throw new Error('The clock is down.');
        return Date.UTC(2026, 10, 26, 12);
      },
    },
  });
  const ada = await invite('ada');
  const { hidden } = await ada.send();
  isDown = true;
  for (const page of [await ada.send(), await ada.post({ ...hidden, action: 'approve' })]) {
    expect([page.status, page.text]).toEqual([500, expect.stringContaining('Try again later.')]);
  }
  expect(errors).toEqual([new Error('The clock is down.'), new Error('The clock is down.')]);
});

test('the token of a link is in nothing that is kept, reported or traced', async () => {
  const events: unknown[] = [];
  const { agent, thread, invite, errors, work } = await openDesk();
  agent.on('request-answered', (event) => events.push(event));
  agent.on('setting-failed', (event) => events.push(event));
  const ada = await invite('ada');
  const token = ada.link.slice(url.length + 1);
  await ada.send({}, `${ada.link}A`);
  await ada.press('approve');
  await ada.press('approve');
  await work();
  const kept = JSON.stringify([await agent.thread(thread.id), events, errors]);
  expect(events).toHaveLength(1);
  for (const part of token.split('.')) expect(kept).not.toContain(part);
});

/* A sign-in behind the link. */

const as = (person: string): Headers => ({ cookie: `person=${person}` });

type SignIn = NonNullable<Parameters<typeof createLinks>[0]['requireSignIn']>;

const byCookie: SignIn = ({ request, threadId }) => {
  if (threadId !== 'invoice-7') throw new Error('It is another thread.');
  const principal = /person=(\w+)/.exec(request.headers.get('cookie') ?? '')?.[1];
  return principal === undefined ? undefined : { principal };
};

test('behind a sign-in the link alone is of no use: only its person answers', async () => {
  const { invite, answers } = await openDesk({ links: { requireSignIn: byCookie } });
  const ada = await invite('ada');
  const { hidden, status, text } = await ada.send({ headers: as('ada') });
  expect(status).toBe(200);
  expect(text).not.toContain('Whoever has this link can answer');
  for (const [headers, why] of [
    [{}, 'Sign in first'],
    [as('ben'), 'This link is for somebody else'],
  ] as [Headers, string][]) {
    const pages = [
      await ada.send({ headers }),
      await ada.post({ ...hidden, action: 'approve' }, { ...own, ...headers }),
    ];
    for (const page of pages) {
      expect([page.status, page.text]).toEqual([403, expect.stringContaining(why)]);
      expect(page.text).not.toContain('ACME');
    }
  }
  expect(await answers()).toEqual([]);
  await ada.post({ ...hidden, action: 'approve' }, { ...own, ...as('ada') });
  expect(await answers()).toMatchObject([{ principal: 'ada', channel: 'link' }]);
});

test('a sign-in may send people to its page; what it throws is told to the developer', async () => {
  const away = Response.redirect('https://app.example/sign-in');
  const replies: (() => ReturnType<SignIn>)[] = [
    () => away,
    () => {
      throw new Error('The sign-in is down.');
    },
    () => ({ principal: false }),
  ];
  const { invite, errors, answers } = await openDesk({
    links: { requireSignIn: () => replies.shift()?.() },
  });
  const ada = await invite('ada');
  expect((await ada.send()).headers.get('location')).toBe('https://app.example/sign-in');
  expect((await ada.send()).status).toBe(500);
  expect((await ada.send()).status).toBe(403);
  expect(errors).toEqual([
    new Error('requireSignIn failed.', { cause: new Error('The sign-in is down.') }),
  ]);
  expect(await answers()).toEqual([]);
});

test('who is the same person says the agent, and roles are those of the sign-in', async () => {
  const { invite, answers } = await openDesk({
    agent: {
      principalId: (principal) => String(Reflect.get(Object(principal), 'id')),
      mayAnswer: ({ principal }) => Reflect.get(Object(principal), 'role') === 'owner',
    },
    links: {
      requireSignIn: ({ request }) => ({
        principal: { id: request.headers.get('x-id'), role: request.headers.get('x-role') },
      }),
    },
  });
  const ada = await invite({ id: 'ada', role: 'owner' });
  const visit = async (id: string, role: string) =>
    (await ada.send({ headers: { 'x-id': id, 'x-role': role } })).status;
  expect(await visit('ada', 'owner')).toBe(200);
  expect(await visit('ben', 'owner')).toBe(403);
  expect(await visit('ada', 'guest')).toBe(403);
  expect(await answers()).toEqual([]);
});

/* What the app gives. */

const wrongOptions: [string, Record<string, unknown>, string][] = [
  ['an unknown setting', { requireSignin: () => undefined }, "did you mean 'requireSignIn'?"],
  ['no agent', { agents: [] }, 'needs at least one agent'],
  ['a url without https', { url: 'http://app.example/answer' }, 'with https or on localhost'],
  ['a path', { url: '/answer' }, 'with https or on localhost'],
  ['a url with a query', { url: 'https://app.example/answer?x' }, 'without a query'],
  ['no keys', { keys: [] }, 'needs keys'],
  [
    'a short secret',
    { keys: [{ ...secretKey('a'), k: Buffer.from('secret').toString('base64url') }] },
    'must be at least 32 bytes',
  ],
  [
    'a secret that is no base64url',
    { keys: [{ ...secretKey('a'), k: '*'.repeat(64) }] },
    'must be at least 32 bytes',
  ],
  ['a key without an id', { keys: [{ ...secretKey('a'), kid: undefined }] }, 'kid'],
  ['a key without an algorithm', { keys: [{ ...secretKey('a'), alg: undefined }] }, 'alg'],
  ['another algorithm', { keys: [{ ...secretKey('a'), alg: 'none' }] }, 'alg'],
  ['two keys of one id', { keys: [secretKey('a'), secretKey('a')] }, 'have one kid'],
  ['a time of 0', { expiresInMs: 0 }, 'expiresInMs must be'],
  ['no time', { expiresInMs: Number.NaN }, 'expiresInMs must be'],
  ['an unknown time zone', { timeZone: 'Mars/Olympus' }, 'Mars/Olympus'],
];

test.each(pickCases(wrongOptions, 3))(
  'createLinks refuses %s, and repeats no secret',
  async (_what, wrong, why) => {
    const { options } = await openDesk();
    let said = '';
    try {
      createLinks({ ...options, ...wrong });
    } catch (error) {
      said = String(error);
    }
    expect(said).toContain(why);
    expect(said).not.toContain(Buffer.from('secret').toString('base64url'));
    expect(said).not.toContain('***');
  },
);

test('on this machine a link needs no https', async () => {
  const { options, request } = await openDesk();
  for (const local of ['http://localhost:3000/answer/', 'http://127.0.0.1/', 'http://[::1]:1/a']) {
    const links = createLinks({ ...options, url: local });
    const link = await links.create(request, { principal: 'ada' });
    expect(link.startsWith(`${local.replace(/\/$/, '')}/ey`)).toBe(true);
    expect((await new Visitor(links.handler, link).send()).status).toBe(200);
  }
});

test.each<[string, (made: Awaited<ReturnType<typeof openDesk>>) => Promise<string>, string]>([
  [
    'for nobody',
    async ({ links, request }) => links.create(request, { principal: undefined }),
    'TypeError: A link is for one person',
  ],
  [
    'for a blank name',
    async ({ links, request }) => links.create(request, { principal: ' ' }),
    'TypeError: A link is for one person',
  ],
  [
    'for what a mistake gives',
    async ({ links, request }) => links.create(request, { principal: false }),
    'TypeError: A link is for one person',
  ],
  [
    'that is too long',
    async ({ links, request }) => links.create(request, { principal: { id: 'x'.repeat(4_000) } }),
    'TypeError: The link would have',
  ],
  [
    'for longer than the app lets it',
    async ({ links, request }) =>
      links.create(request, { principal: 'ada', expiresInMs: 86_400_001 }),
    'TypeError: A link counts for 1,000 to 86400000 ms',
  ],
  [
    'for no time',
    async ({ links, request }) =>
      links.create(request, { principal: 'ada', expiresInMs: Number.NaN }),
    'TypeError: A link counts for',
  ],
  [
    'for what is no request',
    async ({ links, request }) => links.create({ ...request, requestId: '' }, { principal: 'ada' }),
    'invalid-input',
  ],
  [
    'for what has expired',
    async ({ links, request, clock }) =>
      links.create({ ...request, expiresAt: clock.now }, { principal: 'ada' }),
    'request-closed',
  ],
])('no link is made %s', async (_what, create, why) => {
  const desk = await openDesk();
  const refused = await create(desk).catch((error: Error & { code?: string }) => error);
  expect(refused).toBeInstanceOf(Error);
  expect(
    String(refused instanceof Error ? (Reflect.get(refused, 'code') ?? refused) : ''),
  ).toContain(why);
});

test('links are for several agents, each with threads of its own', async () => {
  const [one, two] = [await openDesk(), await openDesk({ agent: { name: 'other' } })];
  const links = createLinks({ ...one.options, agents: [one.agent, two.agent] });
  const ada = new Visitor(links.handler, await links.create(two.request, { principal: 'ada' }));
  expect((await ada.press('approve')).status).toBe(200);
  expect(await one.answers()).toEqual([]);
  expect(await two.answers()).toHaveLength(1);
});

test('the name of an argument imitates nothing, and none is without a name', async () => {
  const input = { to: 'ACME', euros: 1, '': 'a', 'to ': 'b', 'note (text)': 'c' };
  const { invite } = await openDesk({ calls: [{ id: 'c1', name: 'pay', input }] });
  const { text } = await (await invite('ada')).send();
  expect(text).toContain('to "ACME" euros 1 "" "a" "to " "b" "note (text)" "c"');
});
