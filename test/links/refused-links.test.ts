import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { createLinks, type LinkKey } from 'holdpoint/links';
import { SignJWT, UnsecuredJWT } from 'jose';
import { expect, test } from 'vitest';
import { openDesk, secretKey, url, Visitor } from './link-desk.ts';
import { pickCases } from '../support/sampling.ts';

type Desk = Awaited<ReturnType<typeof openDesk>>;

const typ = 'holdpoint-link+jwt';
const hour = 3_600_000;

/** The parts of a link's token. */
const tokenOf = (link: string): string => link.slice(url.length + 1);
const claimsOf = (link: string) =>
  JSON.parse(Buffer.from(tokenOf(link).split('.')[1] ?? '', 'base64url').toString());

/** A link with other claims or another header, signed by whoever has the key. */
async function signed(
  link: string,
  {
    claims = {},
    header = {},
    key = secretKey('one'),
  }: {
    claims?: object;
    header?: object;
    key?: LinkKey | Uint8Array;
  } = {},
): Promise<string> {
  const made = new SignJWT({ ...claimsOf(link), ...claims });
  const protectedHeader = { alg: 'HS256', kid: 'one', typ, ...header };
  return `${url}/${await made.setProtectedHeader(protectedHeader).sign(key)}`;
}

/** A pair of keys as JSON Web Keys: the whole, and its public half. */
function makePair(kid: string): [LinkKey, LinkKey] {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const { x = '', d = '' } = privateKey.export({ format: 'jwk' });
  const half = { kty: 'OKP', crv: 'Ed25519', kid, alg: 'EdDSA', x } as const;
  expect(createPublicKey({ key: { ...half }, format: 'jwk' }).equals(publicKey)).toBe(true);
  return [{ ...half, d }, half];
}

const [pair, publicHalf] = makePair('pair');

/** Each is made of a link that is valid, with what the desk's keys are. */
const notValid: [string, (desk: Desk, link: string) => string | Promise<string>][] = [
  ['guessed', () => `${url}/invoice-7`],
  ['without a token', () => url],
  ['with a blank token', () => `${url}/`],
  ['of three dots', () => `${url}/...`],
  ['truncated', (_desk, link) => link.slice(0, -1)],
  ['truncated to two parts', (_desk, link) => link.slice(0, link.lastIndexOf('.'))],
  ['with something behind it', (_desk, link) => `${link}.x`],
  ['with a character more', (_desk, link) => `${link}A`],
  ['that is endless', (_desk, link) => `${link}${'A'.repeat(100_000)}`],
  ['of another key', async (_desk, link) => signed(link, { key: secretKey('other') })],
  [
    'of a key that is not known',
    async (_desk, link) => signed(link, { header: { kid: 'other' }, key: secretKey('other') }),
  ],
  [
    'without the name of its key',
    async (_desk, link) => signed(link, { header: { kid: undefined } }),
  ],
  ['without a signature', (_desk, link) => `${url}/${new UnsecuredJWT(claimsOf(link)).encode()}`],
  [
    'of another algorithm than its key has',
    async (_desk, link) =>
      signed(link, { header: { alg: 'HS512' }, key: Buffer.from('one'.padEnd(32, '.')) }),
  ],
  [
    'whose secret is the public half of a pair',
    async (_desk, link) =>
      signed(link, {
        header: { kid: 'pair' },
        key: Buffer.from(publicHalf.kty === 'OKP' ? publicHalf.x : '', 'base64url'),
      }),
  ],
  [
    'that is another token of the app',
    async (_desk, link) => signed(link, { header: { typ: 'JWT' } }),
  ],
  [
    'that is a token without a kind',
    async (_desk, link) => signed(link, { header: { typ: undefined } }),
  ],
  [
    'of another address',
    async (desk) =>
      url +
      (
        await createLinks({ ...desk.options, url: 'https://other.example/answer' }).create(
          desk.request,
          { principal: 'ada' },
        )
      ).slice('https://other.example/answer'.length),
  ],
  ['of another path', async (_desk, link) => signed(link, { claims: { aud: `${url}/x` } })],
  ['for all addresses', async (_desk, link) => signed(link, { claims: { aud: undefined } })],
  ['that has ended', async (_desk, link) => signed(link, { claims: { exp: claimsOf(link).iat } })],
  ['that never ends', async (_desk, link) => signed(link, { claims: { exp: undefined } })],
  [
    'that ends too late',
    async (_desk, link) => signed(link, { claims: { exp: claimsOf(link).exp + 1 } }),
  ],
  [
    'from the future',
    async (_desk, link) =>
      signed(link, { claims: { iat: claimsOf(link).iat + 61, exp: claimsOf(link).exp } }),
  ],
  ['without a beginning', async (_desk, link) => signed(link, { claims: { iat: undefined } })],
  ['for nobody', async (_desk, link) => signed(link, { claims: { principal: undefined } })],
  ['for null', async (_desk, link) => signed(link, { claims: { principal: null } })],
  ['that says more', async (_desk, link) => signed(link, { claims: { approved: true } })],
  ['of another thread', async (_desk, link) => signed(link, { claims: { threadId: 'invoice-8' } })],
  ['of another request', async (_desk, link) => signed(link, { claims: { requestId: 'x' } })],
];

/** Everything that a refusal tells. */
const told = ({ status, headers, markup }: Awaited<ReturnType<Visitor['send']>>) => ({
  status,
  headers: [...headers],
  markup,
});

test('a link that is signed as the desk does it is valid, so each of the others is refused for what is wrong with it', async () => {
  const { invite, links } = await openDesk({ links: { keys: [secretKey('one'), publicHalf] } });
  const { link } = await invite('ada');
  const page = await new Visitor(links.handler, await signed(link)).send();
  expect(page.status).toBe(200);
});

test.each(pickCases(notValid, 3))(
  'a link %s is refused as any other, and says nothing',
  async (_what, make) => {
    const desk = await openDesk({ links: { keys: [secretKey('one'), publicHalf] } });
    const { link } = await desk.invite('ada');
    const visitor = new Visitor(desk.links.handler, await make(desk, link));
    const plain = told(await new Visitor(desk.links.handler, `${url}/x`).send());
    expect(plain.status).toBe(404);
    expect(told(await visitor.send())).toEqual(plain);
    expect(told(await visitor.post({ action: 'approve', code: 'x' }))).toEqual(plain);
    expect(plain.markup).not.toContain('ACME');
    expect(await desk.answers()).toEqual([]);
    expect(desk.errors).toEqual([]);
  },
);

test('a link in which any character is another one is refused', async () => {
  const { invite, links } = await openDesk();
  const { link } = await invite('ada');
  const statuses = new Set<number>();
  for (let place = url.length + 1; place < link.length; place += 1) {
    const other = link[place] === 'A' ? 'B' : 'A';
    const changed = link.slice(0, place) + other + link.slice(place + 1);
    const { status } = await links.handler(new Request(changed));
    statuses.add(status);
  }
  expect([...statuses]).toEqual([404]);
  /* The last character has bits that decoders ignore. */
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const spelled = alphabet.split('').map((last) => link.slice(0, -1) + last);
  const valid = await Promise.all(spelled.map(async (each) => links.handler(new Request(each))));
  expect(valid.filter(({ status }) => status === 200)).toHaveLength(1);
});

test('a link ends after a day at most, or with its request', async () => {
  for (const [expiresAfterMs, endsAfter] of [
    [undefined, 24 * hour],
    [2 * hour, 2 * hour],
  ] as const) {
    const rule = expiresAfterMs === undefined ? {} : { expiresAfterMs };
    const { invite, clock, answers } = await openDesk({ rule });
    const ada = await invite('ada');
    const { hidden } = await ada.send();
    clock.now += endsAfter - 1_000;
    expect((await ada.send()).status).toBe(200);
    clock.now += 1_000;
    expect((await ada.send()).status).toBe(404);
    expect((await ada.post({ ...hidden, action: 'approve' })).status).toBe(404);
    expect(await answers()).toEqual([]);
  }
});

test('keys change without a break: the old one is accepted until it is removed', async () => {
  const desk = await openDesk();
  const { link } = await desk.invite('ada');
  const [one, two] = [secretKey('one'), secretKey('two')];
  const both = createLinks({ ...desk.options, keys: [two, one] });
  const after = createLinks({ ...desk.options, keys: [two] });
  const next = await both.create(desk.request, { principal: 'ada' });
  const statuses = await Promise.all(
    [both, after].flatMap(({ handler }) =>
      [link, next].map(async (each) => (await handler(new Request(each))).status),
    ),
  );
  expect(statuses).toEqual([200, 200, 404, 200]);
});

test('whoever has the public half of a pair serves links, and makes none', async () => {
  const { request, options, answers } = await openDesk();
  const makes = createLinks({ ...options, keys: [pair] });
  const serves = createLinks({ ...options, keys: [publicHalf] });
  const ada = new Visitor(serves.handler, await makes.create(request, { principal: 'ada' }));
  await expect(serves.create(request, { principal: 'ada' })).rejects.toThrow(
    new TypeError('No key of createLinks can make links: all of them are public halves.'),
  );
  expect((await ada.press('approve')).status).toBe(200);
  expect(await answers()).toHaveLength(1);
});
