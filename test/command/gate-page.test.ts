import { createServer } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { askForLink, openGatePage } from '../../src/apps/command/gate-page.ts';
import { type LocalKey, makeLocalKey } from '../../src/apps/command/local-key.ts';
import { freePort } from '../support/free-port.ts';

interface Opened {
  key?: LocalKey;
  name?: string;
  port: number;
  now?: () => number;
}

const ours = await makeLocalKey('the key of the store');
const theirs = await makeLocalKey('the key of another store');

/** A body that begins and does not end, as a stream of changes. */
const makeEndless = (): ReadableStream<Uint8Array> =>
  new ReadableStream({ start: (stream) => stream.enqueue(new TextEncoder().encode(':')) });

/** Opens the page of a gate, which says who serves it, until the test has finished. */
async function openPage(says: string, { key = ours, name = 'gate', port, now = () => 0 }: Opened) {
  const reported: string[] = [];
  const page = await openGatePage({
    key,
    name,
    port,
    now,
    report: (problem) => reported.push(problem),
    makeHandler: (path) => async (request) =>
      new Response(request.url.endsWith(`${path}/api/changes`) ? makeEndless() : says),
  });
  onTestFinished(async () => page.close());
  return { page, reported };
}

/** Opens a link, and returns the cookie and the address of the page. */
async function openLink(link: string) {
  const response = await fetch(link, { redirect: 'manual' });
  const [cookie = ''] = (response.headers.get('set-cookie') ?? '').split(';');
  const [url = ''] = link.split('?');
  return { status: response.status, cookie, url };
}

const read = async (url: string, cookie: string): Promise<string> =>
  (await fetch(url, { headers: { cookie } })).text();

test('gates of a store share one page: links of both are of the gate that has the port', async () => {
  const port = await freePort();
  const first = await openPage('first', { port });
  const second = await openPage('second', { port });
  expect(second.page.address).toBe(first.page.address);
  expect(second.page.address).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/inbox-[\w-]{22}$/);
  for (const { page } of [first, second]) {
    const { url, isWatched } = await page.makeLink();
    expect(isWatched).toBe(false);
    const { status, cookie, url: opened } = await openLink(url);
    expect(status).toBe(200);
    expect(await read(opened, cookie)).toBe('first');
    expect((await openLink(url)).status).toBe(403);
  }
  expect([...first.reported, ...second.reported]).toEqual([]);
});

test('the address that anybody may read names no path to which a browser sends its cookie', async () => {
  const { page } = await openPage('mine', { port: await freePort() });
  const link = await page.makeLink();
  const opened = await fetch(link.url);
  const [, path = 'none'] = /Path=([^;]+)/.exec(opened.headers.get('set-cookie') ?? '') ?? [];
  expect(new URL(link.url).pathname).toBe(path);
  const { pathname } = new URL(page.address);
  expect(pathname.startsWith(path)).toBe(false);
  const led = await fetch(page.address);
  expect(led.headers.get('content-security-policy')).toMatch(
    /^default-src 'none'; script-src 'nonce-[\w-]{22}'; .*frame-ancestors 'none'$/,
  );
  const text = await led.text();
  expect(text).toContain('npx holdpoint gate --page');
  expect(text).not.toContain(path);
});

test('when the gate that serves the page ends, another one takes over, and browsers keep their access', async () => {
  const port = await freePort();
  const first = await openPage('first', { port });
  const second = await openPage('second', { port });
  const { cookie, url } = await openLink((await second.page.makeLink()).url);
  const spare = await first.page.makeLink();
  await first.page.close();
  await expect
    .poll(async () => read(url, cookie).catch(() => ''), { timeout: 5_000 })
    .toBe('second');
  expect((await openLink(spare.url)).status).toBe(403);
  const link = await second.page.makeLink();
  expect((await openLink(link.url)).status).toBe(200);
});

test('a gate that needs a link takes over at once', async () => {
  const port = await freePort();
  const first = await openPage('first', { port });
  const second = await openPage('second', { port });
  await first.page.close();
  const { cookie, url } = await openLink((await second.page.makeLink()).url);
  expect(await read(url, cookie)).toBe('second');
});

test.each<[string, (port: number) => Promise<unknown>]>([
  ['a gate of another store', async (port) => openPage('other', { key: theirs, port })],
  ['a gate of another name', async (port) => openPage('other', { name: 'payments', port })],
  [
    'another program',
    async (port) => {
      const server = createServer((_request, response) => {
        response.end(JSON.stringify({ challenge: 'x'.repeat(22), proof: 'x'.repeat(43) }));
      }).listen(port, '127.0.0.1');
      onTestFinished(() => void server.close());
    },
  ],
])('a port that %s has is reported, and the page is on another one', async (_what, occupy) => {
  const port = await freePort();
  await occupy(port);
  const { page, reported } = await openPage('mine', { port });
  expect(reported).toEqual([expect.stringContaining(`Port ${port} is in use`)]);
  const { port: free } = new URL(page.address);
  expect(free).not.toBe(String(port));
  expect(page.linkCommand).toBe(`npx holdpoint gate --page --port ${free}`);
  expect(await read(page.address, '')).toContain(page.linkCommand);
  expect(await askForLink({ key: ours, name: 'gate', port: Number(free) })).toBeDefined();
  const { cookie, url } = await openLink((await page.makeLink()).url);
  expect(await read(url, cookie)).toBe('mine');
  expect(await askForLink({ key: ours, name: 'gate', port })).toBeUndefined();
});

test('whoever has no key gets no link, and a proof counts once', async () => {
  const port = await freePort();
  await openPage('mine', { port });
  const host = `127.0.0.1:${port}`;
  const send = async (message: object) =>
    fetch(`http://${host}/holdpoint-gate`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(message),
    });
  const greet = async (): Promise<string> => {
    const greeted: unknown = await (await send({ greeting: 'x'.repeat(22) })).json();
    return String(Reflect.get(Object(greeted), 'challenge'));
  };
  const sign = async (key: LocalKey, challenge: string, purpose = 'guest') => ({
    challenge,
    proof: await key.sign(purpose, 'gate', host, challenge),
  });
  expect((await send(await sign(theirs, await greet()))).status).toBe(403);
  expect((await send(await sign(ours, await greet(), 'owner'))).status).toBe(403);
  expect((await send(await sign(ours, 'x'.repeat(22)))).status).toBe(403);
  const proof = await sign(ours, await greet());
  expect((await send(proof)).status).toBe(200);
  expect((await send(proof)).status).toBe(403);
  expect(await askForLink({ key: theirs, name: 'gate', port })).toBeUndefined();
});

test('a link ends after a quarter of an hour, and a cookie after a week', async () => {
  let now = 0;
  const { page } = await openPage('mine', { port: await freePort(), now: () => now });
  const [late, good] = [await page.makeLink(), await page.makeLink()];
  now = 15 * 60_000 - 1;
  const { status, cookie, url } = await openLink(good.url);
  expect(status).toBe(200);
  now += 1;
  expect((await openLink(late.url)).status).toBe(403);
  now = 7 * 24 * 3_600_000;
  expect(await read(url, cookie)).toBe('mine');
  now += 15 * 60_000;
  expect(await read(url, cookie)).toContain('npx holdpoint gate --page');
});

test('a browser keeps the cookie of a gate for a week, also when it is closed', async () => {
  const { page } = await openPage('mine', { port: await freePort() });
  const { headers } = await fetch((await page.makeLink()).url);
  expect(headers.get('set-cookie')).toMatch(
    /^holdpoint=[\w.-]+; HttpOnly; SameSite=Strict; Path=\/inbox-[\w-]{22}; Max-Age=604800$/,
  );
});

test.each([
  ['of another store', async () => theirs.sign('session', 'gate', '9')],
  ['of another name', async () => ours.sign('session', 'other', '9')],
  ['for another purpose', async () => ours.sign('path', 'gate', '9')],
  ['that ends at another time', async () => ours.sign('session', 'gate', '8')],
])('a cookie %s opens nothing', async (_what, sign) => {
  const { page } = await openPage('mine', { port: await freePort() });
  const { url } = await openLink((await page.makeLink()).url);
  expect(await read(url, `holdpoint=9.${await sign()}`)).not.toBe('mine');
  expect(await read(url, `holdpoint=9.${await ours.sign('session', 'gate', '9')}`)).toBe('mine');
});

test('while a browser follows the changes, a link says that the page is shown', async () => {
  const port = await freePort();
  const first = await openPage('first', { port });
  const second = await openPage('second', { port });
  const { cookie, url } = await openLink((await first.page.makeLink()).url);
  const gone = new AbortController();
  await fetch(`${url}/api/changes`, { headers: { cookie }, signal: gone.signal });
  expect(await second.page.makeLink()).toMatchObject({ isWatched: true });
  expect(await first.page.makeLink()).toMatchObject({ isWatched: true });
  gone.abort();
  await expect.poll(async () => (await second.page.makeLink()).isWatched).toBe(false);
});
