import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { inboxOutcomesSchema, inboxPageSchema } from '../../src/apps/inbox/inbox-api.ts';
import { guardLocalPage } from '../../src/apps/command/local-guard.ts';
import { runCommand } from '../support/run-holdpoint.ts';
import { fillOffice, inStore, makeOffice } from './office.ts';
import { RunningInbox, type Sent } from './running-inbox.ts';

const folder = mkdtempSync(join(tmpdir(), 'holdpoint-inbox-'));
const filled = join(folder, 'filled.sqlite');
const file = join(folder, 'threads.sqlite');
const rules = join(import.meta.dirname, 'rules', 'office-rules.ts');
beforeAll(async () => inStore(filled, fillOffice));
beforeEach(() => copyFileSync(filled, file));
afterAll(() => rmSync(folder, { recursive: true }));

/** Serves the inbox of the test. */
async function startInbox(...args: string[]): Promise<RunningInbox> {
  return RunningInbox.start(file, ...args);
}

test('only the address is printed; it is exchanged for a cookie, and leaves the address', async () => {
  await using inbox = await startInbox();
  const { pathname, search } = inbox.url;
  expect(inbox.url.href).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/inbox-[\w-]{22}\?token=[\w-]{22}$/);
  const opened = await inbox.send({ path: pathname + search });
  expect(opened).toMatchObject({
    status: 303,
    headers: { location: pathname, 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' },
  });
  expect(opened.headers['set-cookie']).toEqual([
    expect.stringMatching(
      new RegExp(`^holdpoint=[\\w-]{22}; HttpOnly; SameSite=Strict; Path=${pathname}$`),
    ),
  ]);
  const cookie = String(opened.headers['set-cookie']).split(';')[0] ?? '';
  const page = await inbox.send({ headers: { cookie } });
  expect(page).toMatchObject({
    status: 200,
    headers: {
      'cache-control': 'no-store',
      'content-security-policy': expect.stringContaining("frame-ancestors 'none'"),
    },
  });
  expect(page.text).toContain(`src="${pathname}/page.js"`);
  expect(await inbox.send({ path: pathname + search, headers: { cookie } })).toMatchObject({
    status: 303,
  });
  expect(await inbox.end()).toEqual({ status: 0, output: `${inbox.url.href}\n`, error: '' });
});

test('an address counts once, also in a browser that has the cookie already', async () => {
  const path = '/inbox';
  const host = '127.0.0.1:80';
  const page = guardLocalPage({
    host,
    path,
    handle: () => Promise.resolve(new Response('the page')),
    advice: 'Ask again.',
  });
  const open = async (url: string, cookie?: string) =>
    page.serve(new Request(url, { headers: { host, ...(cookie !== undefined && { cookie }) } }));
  const first = await open(await page.makeUrl());
  const cookie = first.headers.get('set-cookie')?.split(';')[0];
  const second = await page.makeUrl();
  expect((await open(second, cookie)).status).toBe(303);
  expect((await open(second)).status).toBe(403);
});

test.each<[string, (inbox: RunningInbox, cookie: string) => Sent]>([
  ['without the cookie', () => ({})],
  ['with another cookie', () => ({ headers: { cookie: 'holdpoint=AAAAAAAAAAAAAAAAAAAAAA' } })],
  ['with an empty cookie', () => ({ headers: { cookie: 'holdpoint=' } })],
  [
    'with the token as the cookie',
    ({ url }) => ({ headers: { cookie: `holdpoint=${url.searchParams.get('token')}` } }),
  ],
  ['with the token once more', ({ url }) => ({ path: url.pathname + url.search })],
  ['with another token', ({ url }) => ({ path: `${url.pathname}?token=AAAAAAAAAAAAAAAAAAAAAA` })],
  ['with an empty token', ({ url }) => ({ path: `${url.pathname}?token=` })],
  [
    'under another name',
    ({ url }, cookie) => ({ headers: { cookie, host: `evil.example:${url.port}` } }),
  ],
  ['as localhost', ({ url }, cookie) => ({ headers: { cookie, host: `localhost:${url.port}` } })],
  ['without a port', (_inbox, cookie) => ({ headers: { cookie, host: '127.0.0.1' } })],
  [
    'to the API under another name',
    ({ url }, cookie) => ({
      path: `${url.pathname}/api/requests?list=mine`,
      headers: { cookie, host: `evil.example:${url.port}` },
    }),
  ],
  [
    'to the API without the cookie',
    ({ url }) => ({ path: `${url.pathname}/api/requests?list=mine` }),
  ],
  ['to the script without the cookie', ({ url }) => ({ path: `${url.pathname}/page.js` })],
])('a request %s is refused, and says nothing', async (_what, make) => {
  await using inbox = await startInbox();
  const cookie = await inbox.open();
  const refused = await inbox.send(make(inbox, cookie));
  expect(refused).toMatchObject({ status: 403, headers: { 'cache-control': 'no-store' } });
  expect(refused.headers['set-cookie']).toBeUndefined();
  expect(refused.text).not.toMatch(/ACME|token|holdpoint=/);
});

test('the token counts under its own name alone, and is not spent by what is refused', async () => {
  await using inbox = await startInbox();
  const { pathname, search, port } = inbox.url;
  const path = pathname + search;
  const refusedRequests: Sent[] = [
    { path, headers: { host: `evil.example:${port}` } },
    { path: `${pathname}?token=AAAAAAAAAAAAAAAAAAAAAA` },
    { path, method: 'HEAD' },
    { path, method: 'POST' },
    { headers: { cookie: 'holdpoint=' } },
  ];
  for (const refused of refusedRequests) {
    expect(await inbox.send(refused)).toMatchObject({ status: 403 });
  }
  expect(await inbox.send({ path })).toMatchObject({ status: 303 });
  expect(await inbox.send({ path: `http://evil.example${path}` })).toMatchObject({ status: 400 });
});

/** Approves what waits in `invoice-7` as the page would, with other headers if any. */
async function approve(inbox: RunningInbox, cookie: string, more: Record<string, string> = {}) {
  const { pathname } = inbox.url;
  const listed = await inbox.send({
    path: `${pathname}/api/requests?list=all`,
    headers: { cookie },
  });
  const { entries, viewer } = inboxPageSchema.parse(JSON.parse(listed.text));
  const entry = entries.find(({ threadId }) => threadId === 'invoice-7');
  if (entry?.request?.type !== 'approval-request') throw new Error('It does not wait.');
  const { requestId, threadId, digest } = entry;
  const answer = {
    type: 'approval-response',
    requestId,
    approved: true,
    digest: entry.request.digest,
  };
  return inbox.send({
    path: `${pathname}/api/answers`,
    method: 'POST',
    headers: { cookie, 'content-type': 'application/json', ...more },
    body: JSON.stringify({ viewer, answers: [{ requestId, threadId, digest, answer }] }),
  });
}

test('an answer carries the name that was given to the command', async () => {
  await using inbox = await startInbox('--rules', rules);
  const cookie = await inbox.open();
  const { status, text: answered } = await approve(inbox, cookie, { origin: inbox.url.origin });
  expect(status).toBe(200);
  const { outcomes } = inboxOutcomesSchema.parse(JSON.parse(answered));
  expect(outcomes).toMatchObject([{ status: 'recorded' }]);
  await inbox.end();
  await inStore(file, async (store) => {
    const { decisions } = await makeOffice(store).thread('invoice-7');
    expect(decisions).toMatchObject([{ status: 'approved', principal: 'ben', channel: 'command' }]);
  });
});

test.each<[string, Record<string, string>]>([
  ['of another site', { origin: 'https://evil.example' }],
  ['of another port', { origin: 'http://127.0.0.1:1' }],
  [
    'that a proxy is said to forward',
    { origin: 'https://evil.example', 'x-forwarded-host': 'evil.example' },
  ],
])('an answer from a page %s is refused, even with the cookie', async (_what, headers) => {
  await using inbox = await startInbox();
  const refused = await approve(inbox, await inbox.open(), headers);
  expect(refused.status).toBe(403);
  expect(JSON.parse(refused.text)).toMatchObject({ error: { code: 'foreign-origin' } });
});

test('what names approvers waits for nobody without the rules of the app', async () => {
  await using inbox = await startInbox();
  const cookie = await inbox.open();
  const path = `${inbox.url.pathname}/api/requests?list=mine`;
  const { entries } = inboxPageSchema.parse(
    JSON.parse((await inbox.send({ path, headers: { cookie } })).text),
  );
  expect(entries.map(({ threadId }) => threadId).toSorted()).toEqual(['invoice-7', 'wall']);
});

test('it ends while a page follows the changes', async () => {
  await using inbox = await startInbox();
  const cookie = await inbox.open();
  const following = inbox.send({ path: `${inbox.url.pathname}/api/changes`, headers: { cookie } });
  const lost = following.catch((error: unknown) => error);
  await inbox.send({ headers: { cookie } });
  expect(await inbox.end()).toMatchObject({ status: 0, error: '' });
  expect(await lost).toBeInstanceOf(Error);
});

test('the port may be chosen, and one that is taken is named', async () => {
  await using inbox = await startInbox();
  const { port } = inbox.url;
  const taken = await runCommand([
    'inbox',
    '--store',
    file,
    '--as',
    'ben',
    '--port',
    port,
    '--json',
  ]);
  expect(taken.status).toBe(2);
  expect(JSON.parse(taken.output)).toMatchObject({
    error: { message: expect.stringContaining('is in use: another program has it') },
  });
  await inbox.end();
  await using again = await startInbox('--port', port);
  expect(again.url.port).toBe(port);
});

test('with --json the address is a JSON value', async () => {
  const ended = await runCommand(['inbox', '--store', file, '--as', 'ben', '--json']);
  expect(ended).toMatchObject({ status: 0, error: '' });
  expect(JSON.parse(ended.output)).toEqual({ url: expect.stringContaining('http://127.0.0.1:') });
});

test.each([
  ['nobody', ['--store', 'x'], "required option '--as <principal>' not specified"],
  ['a person without an id', ['--store', 'x', '--as', '{}'], '--as names nobody'],
  ['a port that is none', ['--store', 'x', '--as', 'ben', '--port', '70000'], 'It must be a port'],
  ['no store', ['--as', 'ben'], 'Name the store'],
])('%s is refused with the status 2', async (_what, args, message) => {
  expect(await runCommand(['inbox', ...args])).toMatchObject({
    status: 2,
    output: '',
    error: expect.stringContaining(message),
  });
});

test('of two that bring the token at the same moment, one gets the cookie', async () => {
  const host = '127.0.0.1:4321';
  const page = guardLocalPage({
    host,
    path: '/inbox-x',
    handle: async () => new Response(),
    advice: 'Ask again.',
  });
  const url = await page.makeUrl();
  const open = async () => page.serve(new Request(url, { headers: { host } }));
  const both = await Promise.all([open(), open()]);
  expect(both.map(({ status }) => status)).toEqual([303, 403]);
});
