import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { memoryStore } from 'holdpoint';
import { afterAll, expect, test } from 'vitest';
import { makeCommandConfig, readGateConfig } from '../../src/apps/command/gate-config.ts';
import { makeObserver } from '../../src/apps/command/gate-observer.ts';
import { makeGateRules } from '../../src/apps/command/gate-rules.ts';
import { makeGateJsonSchema } from '../../src/apps/command/gate-schema.ts';
import {
  answerOnly,
  connect,
  listOpen,
  makeBank,
  makeWorld,
  onlyRequest,
  readTexts,
} from '../gate/gate-world.ts';
import { pagesAt } from '../docs/markdown-page.ts';
import { runCommand } from '../support/run-holdpoint.ts';

const folder = mkdtempSync(join(tmpdir(), 'holdpoint-gate-rules-'));
afterAll(() => rmSync(folder, { recursive: true }));
const servers = { bank: { command: 'bank-server' } };

/** Writes a file of a gate. */
function writeConfig(content: object | string, name = 'gate.json'): string {
  const path = join(folder, name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

const anything = { type: 'object' as const, properties: { to: {}, euros: {}, Euros: {} } };

/** A gate with the rules of a file, in front of a bank whose tools take anything. */
async function openWithRules(
  rules: readonly object[],
  people: object = { boss: ['boss', 'cleo'] },
) {
  const path = writeConfig({ name: 'payments', servers, rules, people });
  const config = await readGateConfig(path, { env: {} });
  const bank = makeBank(undefined, [{ name: 'pay', inputSchema: anything }]);
  const world = makeWorld({ ...config, upstreams: { bank: { transport: bank.open } }, bank });
  return { ...world, client: await connect(world.gate) };
}

/** What becomes of a payment: it ran, was denied, or waits. */
async function tryPayment(rules: readonly object[], input: Record<string, unknown>) {
  const { gate, client, bank, clock } = await openWithRules(rules);
  const calling = client.callTool({ name: 'pay', arguments: input });
  await clock.pass(60_000);
  const [text = ''] = readTexts(await calling);
  await gate.close();
  if (bank.calls.length > 0) return 'ran';
  return text.startsWith('Pending') ? 'waits' : text;
}

const upTo100 = { tools: ['pay'], approval: 'approved', when: { euros: { atMost: 100 } } };
const inFolder = {
  tools: ['pay'],
  approval: 'approved',
  when: { to: { startsWith: '/home/ada/' } },
};
const toAcme = { tools: ['pay'], approval: 'approved', when: { to: { equals: 'ACME' } } };
const noEve = {
  tools: ['pay'],
  approval: 'denied',
  reason: 'Not to Eve.',
  when: { to: { equals: 'Eve' } },
};
const all = { tools: ['*'], approval: 'approved' };
const finance = { approval: 'user-approval', approvers: ['boss'], quorum: 2 };
const boss = { ...upTo100, approval: 'user-approval', approvers: ['boss'] };
const noEtc = { ...noEve, when: { to: { startsWith: '/etc/' } } };
const acme = { to: 'ACME', euros: 100 };

test.each<[string, object[], Record<string, unknown>, string]>([
  ['without a rule', [], acme, 'waits'],
  ['that an exact name lets run', [{ tools: ['pay'], approval: 'approved' }], acme, 'ran'],
  [
    'that the beginning of a name lets run',
    [{ tools: ['pa*'], approval: 'approved' }],
    acme,
    'ran',
  ],
  ['of another name', [{ tools: ['paying', 'p'], approval: 'approved' }], acme, 'waits'],
  ['that another beginning lets run', [{ tools: ['pay_*'], approval: 'approved' }], acme, 'waits'],
  ['of an amount within a limit', [upTo100], acme, 'ran'],
  ['of an amount above a limit', [upTo100], { ...acme, euros: 100.01 }, 'waits'],
  ['of an amount that is text', [upTo100], { ...acme, euros: '100' }, 'waits'],
  ['of an amount that is a list', [upTo100], { ...acme, euros: [1] }, 'waits'],
  ['without the amount', [upTo100], { to: 'ACME' }, 'waits'],
  ['whose argument has another case', [upTo100], { to: 'ACME', Euros: 1 }, 'waits'],
  ['of an equal text', [toAcme], acme, 'ran'],
  ['of a longer text', [toAcme], { ...acme, to: 'ACME ' }, 'waits'],
  ['of one of several texts', [{ ...toAcme, when: { to: { oneOf: ['X', 'ACME'] } } }], acme, 'ran'],
  ['of none of several texts', [{ ...toAcme, when: { to: { oneOf: ['X'] } } }], acme, 'waits'],
  ['at least so much', [{ ...toAcme, when: { euros: { atLeast: 100 } } }], acme, 'ran'],
  [
    'between two amounts',
    [{ ...toAcme, when: { euros: { atLeast: 1, atMost: 99 } } }],
    acme,
    'waits',
  ],
  ['in a folder', [inFolder], { to: '/home/ada/a', euros: 1 }, 'ran'],
  ['beside a folder', [inFolder], { to: '/home/adam', euros: 1 }, 'waits'],
  ['that leads out of a folder', [inFolder], { to: '/home/ada/../eve', euros: 1 }, 'waits'],
  [
    'that leads out of a folder on Windows',
    [inFolder],
    { to: '/home/ada/..\\eve', euros: 1 },
    'waits',
  ],
  ...[
    '/home/ada/%2e%2e/eve',
    '/home/ada/.%2E/eve',
    '/home/ada/%252e%25252E/eve',
    '/home/ada/..%2feve',
    '/home/ada/.\n./eve',
    '/home/ada/.%0a./eve',
    '/home/ada/..\t/eve',
    '/home/ada/.. /eve',
    '/home/ada/.\u200b./eve',
    '/home/ada/..;x/eve',
    '/home/ada/\uff0e\uff0e/eve',
    '/home/ada/..\uff0feve',
    '/home/ada/...',
  ].map((to): [string, object[], Record<string, unknown>, string] => [
    `that some servers read as one out of a folder: ${JSON.stringify(to)}`,
    [inFolder],
    { to, euros: 1 },
    'waits',
  ]),
  ...['/home/ada/..a', '/home/ada/a..', '/home/ada/%20%25/a%', '/home/ada/.a/b c'].map(
    (to): [string, object[], Record<string, unknown>, string] => [
      `of a file in a folder: ${to}`,
      [inFolder],
      { to, euros: 1 },
      'ran',
    ],
  ),
  [
    'of a folder that is denied, written with escapes',
    [noEtc, all],
    { to: '/%65t%63/passwd', euros: 1 },
    'waits',
  ],
  [
    'of which one condition fails',
    [{ ...upTo100, when: { ...upTo100.when, to: { equals: 'X' } } }],
    acme,
    'waits',
  ],
  [
    'that is denied',
    [noEve, all],
    { to: 'Eve', euros: 1 },
    'A rule denied this call: Not to Eve. Nothing was done.',
  ],
  ['that is not denied', [noEve, all], acme, 'ran'],
  [
    'with a list where null is denied',
    [{ ...noEve, when: { to: { equals: null } } }, all],
    { ...acme, to: [] },
    'waits',
  ],
  ['of which nobody knows whether it is denied', [noEve, all], { to: ['Eve'], euros: 1 }, 'waits'],
  ['without the argument by which it is denied', [noEve, all], { euros: 1 }, 'waits'],
  ['that an earlier rule lets run', [all, noEve], { to: 'Eve', euros: 1 }, 'ran'],
  [
    'that an earlier rule asks about',
    [{ tools: ['pay'], approval: 'user-approval' }, all],
    acme,
    'waits',
  ],
  [
    'of which nobody knows whether it asks',
    [{ ...upTo100, approval: 'user-approval' }, all],
    { to: 'ACME' },
    'waits',
  ],
  [
    'of which nobody knows which of two rules asks',
    [
      { ...upTo100, approval: 'user-approval' },
      { tools: ['*'], ...finance },
    ],
    { to: 'ACME', euros: '5000' },
    'A rule denied this call: Rules 1 and 2 may both apply',
  ],
  [
    'of which nobody knows whether it is denied, or asks others',
    [noEve, { tools: ['*'], ...finance }],
    { to: ['Eve'], euros: 1 },
    'A rule denied this call: Rules 1 and 2 may both apply',
  ],
  [
    'that may ask and is denied',
    [{ ...upTo100, approval: 'user-approval' }, noEve],
    { to: 'Eve' },
    'A rule denied this call: Not to Eve.',
  ],
  ['that one of two rules asks about', [boss, all], { to: 'ACME', euros: 1 }, 'waits'],
  ['whose path is written otherwise', [noEtc, all], { to: '//etc/x', euros: 1 }, 'waits'],
  ['whose path has a dot in it', [noEtc, all], { to: '/./etc/./x', euros: 1 }, 'waits'],
  ['whose path has other strokes', [noEtc, all], { to: '\\etc\\x', euros: 1 }, 'waits'],
  ['of another path', [noEtc, all], { to: '/etcetera//x', euros: 1 }, 'ran'],
])('a call %s is decided as the file says', async (_what, rules, input, outcome) => {
  expect(await tryPayment(rules, input)).toContain(outcome);
});

test('an answer that is remembered lets no call run of which nobody knows whether its rule applies', async () => {
  const remembered = {
    ...upTo100,
    approval: 'user-approval',
    remember: { match: ['to'], uses: 5 },
  };
  const { gate, client, bank, clock } = await openWithRules([remembered]);
  const pay = async (euros: unknown) =>
    client.callTool({ name: 'pay', arguments: { to: 'ACME', euros } });
  const first = pay(100);
  await clock.pass(1_000);
  await answerOnly(gate, (request) => request.approve({ remember: true }));
  await clock.pass(2_000);
  await first;
  await pay(99);
  expect(bank.calls).toHaveLength(2);
  const unclear = pay('5000');
  await clock.pass(60_000);
  expect(readTexts(await unclear)[0]).toMatch(/^Pending/);
  expect(bank.calls).toHaveLength(2);
  await gate.close();
});

test('a request has everything that its rule demands', async () => {
  const { gate, client, clock } = await openWithRules([
    {
      tools: ['pay'],
      approval: 'user-approval',
      text: 'May this be paid?',
      reason: 'It is money.',
      approvers: ['boss'],
      notRequester: true,
      quorum: 2,
      requireReason: true,
      editable: ['euros'],
      expiresAfterMs: 600_000,
      onExpiry: { type: 'escalate', approvers: ['boss'] },
      remindBeforeMs: 60_000,
      remember: true,
      risk: 'high',
      metadata: { department: 7 },
    },
  ]);
  const calling = client.callTool({ name: 'pay', arguments: acme });
  await clock.pass(1_000);
  expect(await onlyRequest(gate)).toMatchObject({
    text: 'May this be paid?',
    reason: 'It is money.',
    approvers: ['boss'],
    notRequester: true,
    quorum: 2,
    requireReason: true,
    editable: ['euros'],
    onExpiry: { type: 'escalate', approvers: ['boss'] },
    remember: { scope: 'principal', match: 'exact' },
    risk: 'high',
    metadata: { department: 7 },
  });
  await clock.pass(60_000);
  await calling;
  await gate.close();
});

test('only people of the group may answer, and a group is not its name', async () => {
  const asking = { tools: ['pay'], approval: 'user-approval', approvers: ['finance'] };
  const { gate, client, clock } = await openWithRules([asking], { finance: ['boss'] });
  const calling = client.callTool({ name: 'pay', arguments: acme });
  await clock.pass(1_000);
  const [request] = await listOpen(gate);
  if (request === undefined) throw new Error('Nothing is asked.');
  const thread = await gate.agent.thread(request.threadId);
  for (const principal of ['ada', 'finance', undefined]) {
    await expect(
      gate.agent.respond(request.approve(), thread, { principal }),
    ).rejects.toMatchObject({
      code: 'not-allowed',
    });
  }
  await gate.agent.respond(request.approve(), thread, { principal: 'boss' });
  await clock.pass(1_000);
  expect(readTexts(await calling)).toEqual(['pay done']);
  await gate.close();
});

test('an answer that is remembered decides later calls of the same person, which are other threads', async () => {
  const remember = { match: ['to'], uses: 1 };
  const { gate, client, bank, clock } = await openWithRules([
    { tools: ['pay'], approval: 'user-approval', remember },
  ]);
  const pay = async (to: string) => client.callTool({ name: 'pay', arguments: { to, euros: 1 } });
  const first = pay('ACME');
  await clock.pass(1_000);
  await answerOnly(gate, (request) => request.approve({ remember: true }));
  await clock.pass(2_000);
  await first;
  const later = [pay('ACME'), pay('ACME'), pay('Eve')];
  await clock.pass(1_000);
  expect(bank.calls).toHaveLength(2);
  expect(await listOpen(gate)).toHaveLength(2);
  await clock.pass(60_000);
  await Promise.all(later);
  await gate.close();
});

test.each([
  ['decides a call under another rule with the same demands', {}, 2],
  ['decides no call under a rule with other metadata', { metadata: { of: 'large amounts' } }, 1],
])('a standing approval %s', async (_what, more, runs) => {
  const asking = { approval: 'user-approval', remember: { match: 'any' } };
  const { gate, client, bank, clock } = await openWithRules([
    { ...upTo100, ...asking },
    { tools: ['pay'], ...asking, ...more },
  ]);
  const pay = async (euros: number) => client.callTool({ name: 'pay', arguments: { euros } });
  const first = pay(5);
  await clock.pass(1_000);
  await answerOnly(gate, (request) => request.approve({ remember: true }));
  await clock.pass(2_000);
  await first;
  const later = pay(5_000);
  await clock.pass(60_000);
  await later;
  expect(bank.calls).toHaveLength(runs);
  await gate.close();
});

test('each name and each beginning of a name that fits no tool is reported once, before there is a call', async () => {
  const { gate, client, problems } = await openWithRules([
    { tools: ['pya', 'bank__*', 'p*'], approval: 'denied' },
    { tools: ['bank__*', '*'], approval: 'approved' },
  ]);
  const unknown = ['pya', 'bank__*'].map((name) => ({
    problem: `A rule names "${name}", which fits no tool of this gate.`,
  }));
  expect(problems).toEqual(unknown);
  await client.callTool({ name: 'pay', arguments: acme });
  expect(problems).toEqual(unknown);
  await gate.close();
});

test('a gate that only observes reports names of rules that fit no tool', async () => {
  const { toolApproval } = makeGateRules({ rules: [{ tools: ['pya*'], approval: 'denied' }] });
  const { gate, problems } = makeWorld({
    toolApproval: makeObserver({
      store: memoryStore(),
      name: 'gate',
      toolApproval,
      report: () => {},
    }),
  });
  await connect(gate);
  expect(problems).toEqual([{ problem: 'A rule names "pya*", which fits no tool of this gate.' }]);
  await gate.close();
});

const valid = { name: 'payments', servers };

test.each<[string, object | string, RegExp]>([
  ['that is not JSON', '{', /gate\.json is not JSON/],
  ['with a key twice', '{"name":"x","name":"y"}', /has the key "name" twice/],
  [
    'with a condition on an argument that no map may have',
    '{"name":"x","servers":{"a":{"command":"x"}},"rules":[{"tools":["*"],"approval":"approved","when":{"__proto__":{"equals":1}}}]}',
    /it has a `__proto__` key/,
  ],
  [
    'with a number that is rounded',
    '{"name":"x","servers":{"a":{"command":"x"}},"rules":[{"tools":["*"],"approval":"approved","when":{"id":{"equals":9007199254740993}}}]}',
    /9007199254740992 is outside/,
  ],
  ['without servers', { name: 'x', servers: {} }, /needs at least one server/],
  ['without a name', { servers }, /→ at name/],
  [
    'with the name of what another gate keeps',
    { ...valid, name: 'x-observed' },
    /can't be named 'x-observed'/,
  ],
  ['with too long a name', { ...valid, name: 'x'.repeat(91) }, /<=90 characters[^]*→ at name/],
  ['with an unknown setting', { ...valid, rule: [] }, /Unrecognized key: "rule"/],
  [
    'with an unknown setting of a server',
    { name: 'x', servers: { a: { command: 'x', enviroment: {} } } },
    /"enviroment"[^]*→ at servers\.a/,
  ],
  [
    'with an unknown setting of a rule',
    { ...valid, rules: [{ tools: ['a'], approval: 'user-approval', quorom: 2 }] },
    /"quorom"[^]*→ at rules\[0\]/,
  ],
  [
    'with demands on a rule that asks nobody',
    { ...valid, rules: [{ tools: ['a'], approval: 'approved', quorum: 2 }] },
    /"quorum"[^]*→ at rules\[0\]/,
  ],
  [
    'with an unknown approval',
    { ...valid, rules: [{ tools: ['a'], approval: 'allow' }] },
    /→ at rules\[0\]\.approval/,
  ],
  [
    'with an unknown condition',
    { ...valid, rules: [{ tools: ['a'], approval: 'approved', when: { b: { matches: 'x' } } }] },
    /"matches"[^]*→ at rules\[0\]\.when\.b/,
  ],
  [
    'with an empty condition',
    { ...valid, rules: [{ tools: ['a'], approval: 'approved', when: { b: {} } }] },
    /needs at least one condition/,
  ],
  [
    'with a * in the middle',
    { ...valid, rules: [{ tools: ['a*b'], approval: 'approved' }] },
    /a \* at its end only/,
  ],
  [
    'with an answer that only one call remembers',
    {
      ...valid,
      rules: [{ tools: ['a'], approval: 'user-approval', remember: { scope: 'thread' } }],
    },
    /→ at rules\[0\]\.remember/,
  ],
  [
    'with a group that has no people',
    { ...valid, rules: [{ tools: ['a'], approval: 'user-approval', approvers: ['boss'] }] },
    /rules\[0\] names the group "boss"/,
  ],
  [
    'with a quorum of more people than its groups have',
    {
      ...valid,
      people: { a: ['ben', 'cleo'], b: ['cleo'] },
      rules: [{ tools: ['a'], approval: 'user-approval', approvers: ['a', 'b'], quorum: 3 }],
    },
    /rules\[0\] has the quorum 3, which its groups \["a","b"\] can't reach: people in them: 2/,
  ],
  [
    'that escalates to more people than the group has',
    {
      ...valid,
      people: { finance: ['a', 'b'], boss: ['c'] },
      rules: [
        {
          tools: ['a'],
          approval: 'user-approval',
          approvers: ['finance'],
          onExpiry: { type: 'escalate', approvers: ['boss'], quorum: 2 },
        },
      ],
    },
    /rules\[0\] has the quorum 2, which its groups \["boss"\] can't reach: people in them: 1/,
  ],
  [
    'that escalates to a group that has no people',
    {
      ...valid,
      rules: [
        {
          tools: ['a'],
          approval: 'user-approval',
          onExpiry: { type: 'escalate', approvers: ['boss'] },
        },
      ],
    },
    /rules\[0\] names the group "boss"/,
  ],
  [
    'with a variable that is not set',
    {
      name: 'x',
      servers: { a: { url: 'https://x.example', headers: { authorization: 'Bearer ${TOKEN}' } } },
    },
    /servers\.a\.headers\.authorization names the variable TOKEN/,
  ],
  [
    'whose server has another kind of address',
    { name: 'x', servers: { a: { url: 'file:///etc/passwd' } } },
    /→ at servers\.a/,
  ],
])(
  'a file %s is refused with the place, before anything is served',
  async (_what, content, message) => {
    const path = writeConfig(content);
    const ended = await runCommand(['gate', '--config', path], { env: { HOME: folder } });
    expect(ended).toMatchObject({ status: 2, output: '', error: expect.stringMatching(message) });
  },
);

test.each<[string, string[], string]>([
  ['no server', ['gate'], 'Name the server behind the gate'],
  [
    'a server beside a file',
    ['gate', '--config', 'x.json', '--', 'x'],
    'Name the server behind the gate',
  ],
  [
    'a variable that is not set',
    ['gate', '--no-open', '--inherit-env', 'HOLDPOINT_NOT_SET', '--', 'x'],
    'inherits HOLDPOINT_NOT_SET, which is not set',
  ],
  ['a variable beside a file', ['gate', '--inherit-env', 'A', '--config', 'x.json'], 'in the file'],
  ['a file that there is not', ['gate', '--config', join(folder, 'none.json')], 'ENOENT'],
  ['an unknown client', ['gate', '--print-config', 'emacs', '--', 'x'], 'Allowed choices are'],
  [
    'the configuration of a client behind a proxy',
    ['gate', '--http', '--principal-header', 'x', '--print-config', 'codex', '--', 'x'],
    'of your proxy',
  ],
  ['a header without HTTP', ['gate', '--principal-header', 'x-user', '--', 'x'], 'needs --http'],
  [
    'a header without a secret',
    ['gate', '--http', '0', '--principal-header', 'x-user', '--', 'x'],
    'HOLDPOINT_PROXY_SECRET',
  ],
  ['a database without a name', ['gate', '--postgres', '--', 'x'], 'DATABASE_URL'],
  ['nobody', ['gate', '--as', ' ', '--', 'x'], '--as must name somebody'],
])('%s is refused with the status 2, on the standard error alone', async (_what, args, message) => {
  expect(await runCommand(args, { env: { HOME: folder } })).toMatchObject({
    status: 2,
    output: '',
    error: expect.stringContaining(message),
  });
});

test('variables of the environment are filled in where a file names them, and folders are its own', async () => {
  const path = writeConfig({
    name: 'x',
    servers: {
      a: { command: 'a', env: { KEY: 'k-${SECRET}' }, cwd: 'sub' },
      b: { url: 'https://b.example/mcp', headers: { authorization: 'Bearer ${SECRET}' } },
    },
  });
  const { upstreams } = await readGateConfig(path, { env: { SECRET: 's$&' } });
  expect(upstreams).toEqual({
    a: { command: 'a', env: { KEY: 'k-s$&' }, cwd: join(folder, 'sub') },
    b: { url: 'https://b.example/mcp', headers: { authorization: 'Bearer s$&' } },
  });
});

test('a file may begin with a byte order mark', async () => {
  const path = writeConfig(`\u{feff}${JSON.stringify({ name: 'x', servers })}`);
  expect(await readGateConfig(path, { env: {} })).toMatchObject({ name: 'x' });
});

test('a configuration is printed without the variables that its file names', async () => {
  const a = { url: 'https://x.example', headers: { authorization: 'Bearer ${TOKEN}' } };
  const path = writeConfig({ name: 'x', servers: { a } });
  const args = ['gate', '--print-config', 'claude-code', '--config', path];
  const printed = await runCommand(args, { env: { HOME: folder } });
  expect(printed).toMatchObject({ status: 0, output: expect.stringContaining('"mcpServers"') });
});

test('a configuration is printed without the URL of its database, and says that it needs it', async () => {
  const url = 'postgres://gate:s3cret@db/gate';
  const args = ['gate', '--postgres', url, '--print-config', 'claude-code', '--', 'x'];
  const printed = await runCommand(args, { env: { HOME: folder } });
  expect(printed.output).not.toContain('s3cret');
  expect(printed.error).toContain('set DATABASE_URL for this server in the client');
});

const code = (more: string): string =>
  `export default { name: 'x', upstreams: { a: { command: 'a' } }, toolApproval: () => 'approved', ${more} };`;

test('a file of code has rules of its own, and no setting that the command decides', async () => {
  const good = writeConfig(code("mayAnswer: ({ principal }) => principal === 'ada'"), 'good.mjs');
  const config = await readGateConfig(good, { env: {} });
  expect(config).toMatchObject({ name: 'x', toolApproval: expect.any(Function) });
  const bad = writeConfig(code('store: {}'), 'bad.mjs');
  await expect(readGateConfig(bad, { env: {} })).rejects.toThrow(/"store"/);
});

test('the JSON Schema of the package is that of the command', () => {
  const path = join(import.meta.dirname, '..', '..', 'schemas', 'gate.json');
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual(makeGateJsonSchema());
});

test('the file in the guide is valid', async () => {
  const [page] = pagesAt('docs/guides/gate.md');
  const [, example = ''] =
    /^```json\n(\{\n {2}"\$schema"(?:(?!```)[^])*)```/m.exec(page?.text ?? '') ?? [];
  const path = writeConfig(example);
  const config = await readGateConfig(path, { env: { TICKETS_TOKEN: 'x' } });
  expect(Object.keys(config.upstreams)).toEqual(['files', 'tickets']);
});

test.each([
  ['npx -y @modelcontextprotocol/server-filesystem@1.2 ./notes', 'server-filesystem'],
  ['/usr/lib/node_modules/node/bin/node --x /opt/bank/dist/index.js', 'bank'],
  ['uvx mcp-server-git --repository .', 'mcp-server-git'],
  ['docker run -i --rm ghcr.io/github/github-mcp-server', 'github-mcp-server'],
  ['C:\\bank\\Bank_Server.exe', 'bank-server'],
  ['node', 'server'],
])('the server of the command %s is named after it, and after nothing else', async (text, name) => {
  const named = await nameServer(text, '/home/ada');
  expect(named).toMatch(new RegExp(`^${name}-[a-z0-9]{8}$`));
  expect(await nameServer(`${text} x`, '/home/ada')).not.toBe(named);
  expect(await nameServer(text, '/home/ada')).toBe(named);
});

async function nameServer(text: string, cwd: string): Promise<string | undefined> {
  return Object.keys((await makeCommandConfig(text.split(' '), [], cwd)).upstreams)[0];
}

test.each([
  ['a relative path', 'node ./server.js'],
  ['a file without a path', '/usr/bin/node server.js'],
  ['a package that the project may have', 'npx -y bank-server'],
  ['a program that the project may have', 'bank-server /home/ada/notes'],
  ['a script of the project', '/usr/bin/npm run mcp'],
  ['a module of the folder', '/usr/bin/python3 -mserver'],
  ['a flag that names a file', '/usr/bin/node --import=./hook.js /opt/bank/index.js'],
])('the same command in another folder is another server: %s', async (_what, text) => {
  expect(await nameServer(text, '/home/ada/a')).not.toBe(await nameServer(text, '/home/ada/b'));
});

test('a command of absolute paths is the same server in every folder', async () => {
  const text = '/usr/bin/node --no-warnings /opt/bank/index.js -v';
  expect(await nameServer(text, '/home/ada/a')).toBe(await nameServer(text, '/home/ada/b'));
});
