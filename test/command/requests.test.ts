import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { z } from 'zod';
import { runCommand } from '../support/run-holdpoint.ts';
import { fillOffice, inStore, makeOffice } from './office.ts';

const folder = mkdtempSync(join(tmpdir(), 'holdpoint-command-'));
const filled = join(folder, 'filled.sqlite');
const file = join(folder, 'threads.sqlite');
beforeAll(async () => inStore(filled, fillOffice));
beforeEach(() => copyFileSync(filled, file));
afterAll(() => rmSync(folder, { recursive: true }));

const rules = join(import.meta.dirname, 'rules', 'office-rules.ts');

/** Runs a command on the store of the test. */
async function holdpoint(...args: string[]) {
  return runCommand(args, { env: { HOLDPOINT_STORE: file } });
}

const listSchema = z.object({
  requests: z.array(z.looseObject({ requestId: z.string(), threadId: z.string() })),
  next: z.string().nullable(),
});

/** The id of what waits in a thread, and the digest with which it is shown. */
async function see(threadId: string) {
  const { output } = await holdpoint('list', '--thread', threadId, '--json');
  const [{ requestId } = { requestId: '' }] = listSchema.parse(JSON.parse(output)).requests;
  const shown = await holdpoint('show', requestId, '--json');
  const { digest } = z.looseObject({ digest: z.string() }).parse(JSON.parse(shown.output));
  return { requestId, digest };
}

const failureSchema = z.strictObject({
  error: z.strictObject({ code: z.string(), message: z.string() }),
});

/** How a command was refused: its status, and what it says, which is the same with and without `--json`. */
async function refusalOf(...args: string[]) {
  const { status, output, error } = await holdpoint(...args);
  expect(status).not.toBe(0);
  const json = await holdpoint(...args, '--json');
  const { code, message } = failureSchema.parse(JSON.parse(json.output)).error;
  expect(json.status).toBe(status);
  expect(json.error + output).toBe('');
  expect(error.replace('See: holdpoint --help\n', '').trim()).toBe(message);
  return { status, code, message };
}

test('the list has what needs a person, a request a line', async () => {
  const { status, output, error } = await holdpoint('list');
  expect({ status, error }).toEqual({ status: 0, error: '' });
  const [head, ...lines] = output.trimEnd().split('\n');
  expect(head).toMatch(/^REQUEST +KIND +STATE +RISK +AGENT +TOOL +THREAD +SINCE +TEXT$/);
  expect(lines).toHaveLength(4);
  expect(output).toMatch(
    / approval +open +high +office +pay +invoice-7 .*Z  Pay 500 EUR to ACME\?\n/,
  );
  expect(output).toMatch(/ question +open +- +asker +- +wall .*Z  Which colour\?\n/);
  expect(output).toMatch(/ lost-call +open +- +- +book +trip .*Z  \{"city":"Paris"\}\n/);
});

test.each([
  [['--kind', 'question'], ['wall']],
  [
    ['--agent', 'office'],
    ['invoice-7', 'invoice-8'],
  ],
  [['--no-agent'], ['trip']],
  [['--tool', 'wire'], ['invoice-8']],
  [['--risk', 'high'], ['invoice-7']],
  [
    ['--requester', 'cleo'],
    ['invoice-7', 'invoice-8'],
  ],
  [['--thread', 'wall'], ['wall']],
  [['--state', 'decided'], ['trip']],
])('the list can be filtered: %s', async (options, threadIds) => {
  const { output } = await holdpoint('list', ...options, '--json');
  const { requests } = listSchema.parse(JSON.parse(output));
  expect(requests.map(({ threadId }) => threadId).toSorted()).toEqual(threadIds);
});

test('a list goes on after the last request of a page', async () => {
  const seen: string[] = [];
  for (let after: string[] = []; seen.length < 9;) {
    const { output } = await holdpoint('list', '--limit', '3', ...after, '--json');
    const { requests, next } = listSchema.parse(JSON.parse(output));
    seen.push(...requests.map(({ threadId }) => threadId));
    if (next === null) break;
    expect(await holdpoint('list', '--limit', '3', ...after)).toMatchObject({
      error: `There may be more: --after ${next}\n`,
    });
    after = ['--after', next];
  }
  expect(seen.toSorted()).toEqual(['invoice-7', 'invoice-8', 'trip', 'wall']);
});

test('a request is shown whole, with who asks, what the rule demands, and its digest', async () => {
  const { requestId, digest } = await see('invoice-7');
  const { output } = await holdpoint('show', requestId);
  expect(output.replace(/since .*/, 'since …')).toBe(`Request ${requestId} (open)
Thread invoice-7 of agent office, since …

Pay 500 EUR to ACME?
Asked for by: cleo
Risk: high
May be edited: euros

  pay
    to: "ACME"
    euros: 500

Digest: ${digest}
`);
});

test('what a model wrote can hide nothing, and what looks like something else is named', async () => {
  const { requestId } = await see('invoice-8');
  const { output } = await holdpoint('show', requestId);
  expect(output).toContain('"раypal" mixes Latin and Cyrillic letters');
  expect(output).toContain('    note:\n    │ a\\u{202e}b\n    │ c\n');
  const printed = [
    output,
    (await holdpoint('show', requestId, '--json')).output,
    (await holdpoint('list', '--json')).output,
    (await holdpoint('list')).output,
    (await holdpoint('export', 'invoice-8')).output,
    (await holdpoint('export', 'invoice-8', '--json')).output,
  ];
  for (const text of printed) expect(text).not.toMatch(/\u202E/);
});

test('a question is shown with the ids of its options', async () => {
  const { requestId } = await see('wall');
  const { output } = await holdpoint('show', requestId);
  expect(output).toContain('Which colour?\n\n    red: red\n    blue: blue\n');
});

test('a lost call is shown with its input, also by its thread and its id', async () => {
  const { requestId, digest } = await see('trip');
  const { output } = await holdpoint('show', requestId);
  expect(output).toContain('nobody knows what came of it.\n');
  expect(output).toContain('  book\n    city: "Paris"\n    call: c1\n');
  expect(await holdpoint('show', 'trip/c1')).toMatchObject({ status: 0, output });
  expect(output).toContain(`Digest: ${digest}\n`);
});

test('an approval is recorded with who gave it and that it came from the command, and a worker runs the call', async () => {
  const { requestId, digest } = await see('invoice-7');
  const given = ['answer', requestId, '--as', 'ben', '--digest', digest, '--approve'];
  for (let times = 0; times < 2; times += 1) {
    expect(await holdpoint(...given, '--reason', 'As agreed.')).toEqual({
      status: 0,
      output: 'Recorded: approved.\n',
      error: '',
    });
  }
  await inStore(file, async (store) => {
    const office = makeOffice(store);
    const thread = await office.thread('invoice-7');
    expect(thread.calls[0]?.outcome).toBeUndefined();
    expect(thread.decisions).toMatchObject([
      {
        status: 'approved',
        principal: 'ben',
        channel: 'command',
        response: { reason: 'As agreed.' },
      },
    ]);
    await office.run([], thread);
    expect(thread.calls[0]?.outcome).toEqual({
      status: 'succeeded',
      output: 'Paid 500 EUR to ACME.',
    });
  });
  const { output } = await holdpoint('show', requestId);
  expect(output).toContain(' approved by ben\nReason: As agreed.\n');
});

test('an approved call that a stop holds is shown as held', async () => {
  const { requestId, digest } = await see('invoice-7');
  await holdpoint('answer', requestId, '--as', 'ben', '--digest', digest, '--approve');
  expect((await holdpoint('show', requestId)).output).not.toContain('held');
  await inStore(file, async (store) => {
    const office = makeOffice(store);
    await office.stop(await office.thread('invoice-7'), { principal: 'cleo' });
  });
  const { output } = await holdpoint('show', requestId);
  expect(output).toContain('Its call is approved, and held since the assistant was stopped.\n');
});

test('a principal may be an object', async () => {
  const { requestId, digest } = await see('invoice-7');
  await holdpoint(
    'answer',
    requestId,
    '--as',
    '{"id":"u-17"}',
    '--digest',
    digest,
    '--reject',
    '--reason',
    'Too dear.',
  );
  await inStore(file, async (store) => {
    const { decisions } = await makeOffice(store).thread('invoice-7');
    expect(decisions).toMatchObject([
      { status: 'rejected', principal: { id: 'u-17' }, response: { reason: 'Too dear.' } },
    ]);
  });
});

test('a call is approved with another input where its rule lets people edit it', async () => {
  const { requestId, digest } = await see('invoice-7');
  const given = ['answer', requestId, '--as', 'ben', '--digest', digest, '--approve', '--input'];
  expect(await refusalOf(...given, '{"to":"Eve","euros":500}')).toMatchObject({
    status: 1,
    code: 'invalid-answer',
    message: expect.stringContaining('"to" is not editable'),
  });
  expect(await holdpoint(...given, '{"to":"ACME","euros":400}', '--json')).toMatchObject({
    status: 0,
    output: expect.stringContaining('"state": "approved"'),
  });
  await inStore(file, async (store) => {
    const office = makeOffice(store);
    const thread = await office.thread('invoice-7');
    await office.run([], thread);
    expect(thread.calls[0]?.outcome).toMatchObject({ output: 'Paid 400 EUR to ACME.' });
  });
});

test('a question is answered by the id of an option', async () => {
  const { requestId, digest } = await see('wall');
  const given = ['answer', requestId, '--as', 'ben', '--digest', digest];
  expect(await holdpoint(...given, '--option', 'blue')).toMatchObject({
    output: 'Recorded: answered.\n',
  });
  expect(await refusalOf(...given, '--option', 'red')).toMatchObject({
    status: 1,
    code: 'already-answered',
  });
  const { output } = await holdpoint('show', requestId, '--json');
  expect(JSON.parse(output)).toMatchObject({ state: 'answered', decidedBy: 'ben' });
});

test('who may answer what names approvers is up to the rules of the app', async () => {
  const { requestId, digest } = await see('invoice-8');
  const given = ['answer', requestId, '--digest', digest, '--approve'];
  expect(await refusalOf(...given, '--as', 'ben')).toMatchObject({
    status: 1,
    code: 'not-allowed',
    message: expect.stringContaining('pass --rules with a file that exports it'),
  });
  for (const principal of ['dora', 'cleo']) {
    expect(await refusalOf(...given, '--as', principal, '--rules', rules)).toMatchObject({
      status: 1,
      code: 'not-allowed',
    });
  }
  expect(await holdpoint(...given, '--as', 'ben', '--rules', rules)).toMatchObject({
    status: 0,
    output: 'Recorded: approved.\n',
  });
});

test.each([
  ['no mayAnswer', 'export default { toolApproval: {} };', 'mayAnswer'],
  [
    'a misspelt setting',
    'export default { mayAnswer: () => true, principalID: () => "" };',
    'principalID',
  ],
  [
    'no default',
    'export const mayAnswer = () => true;',
    'must export { mayAnswer } as its default',
  ],
])('a rules file with %s answers nothing', async (what, text, message) => {
  const { requestId, digest } = await see('invoice-7');
  /* Modules are kept by their path. */
  const bad = join(folder, `${what.replaceAll(' ', '-')}.mjs`);
  writeFileSync(bad, text);
  const given = ['--as', 'ben', '--digest', digest, '--approve', '--rules', bad];
  expect(await refusalOf('answer', requestId, ...given)).toMatchObject({
    status: 2,
    code: 'failed',
    message: expect.stringContaining(message),
  });
  await expectOpen('invoice-7');
});

/** That a request of a thread waits as before. */
async function expectOpen(threadId: string) {
  const { output } = await holdpoint('list', '--thread', threadId, '--json');
  expect(listSchema.parse(JSON.parse(output)).requests).toHaveLength(1);
}

const usage = { status: 2, code: 'usage' };

test.each<[string, string, string[], { status: number; code: string }]>([
  [
    'another digest',
    'invoice-7',
    ['--as', 'ben', '--digest', 'x', '--approve'],
    { status: 1, code: 'answer-mismatch' },
  ],
  [
    'another digest of a rejection',
    'invoice-7',
    ['--as', 'ben', '--digest', 'x', '--reject'],
    { status: 1, code: 'answer-mismatch' },
  ],
  [
    'another digest of a question',
    'wall',
    ['--as', 'ben', '--digest', 'x', '--option', 'red'],
    { status: 1, code: 'answer-mismatch' },
  ],
  ['no digest', 'invoice-7', ['--as', 'ben', '--approve'], usage],
  ['nobody', 'invoice-7', ['--digest', 'DIGEST', '--approve'], usage],
  ['an empty name', 'invoice-7', ['--as', ' ', '--digest', 'DIGEST', '--approve'], usage],
  ['a broken principal', 'invoice-7', ['--as', '{ben}', '--digest', 'DIGEST', '--approve'], usage],
  ['no answer', 'invoice-7', ['--as', 'ben', '--digest', 'DIGEST'], usage],
  [
    'two answers',
    'invoice-7',
    ['--as', 'ben', '--digest', 'DIGEST', '--approve', '--reject'],
    usage,
  ],
  [
    'an input alone',
    'invoice-7',
    ['--as', 'ben', '--digest', 'DIGEST', '--input', '{"to":"ACME","euros":1}'],
    usage,
  ],
  [
    'an input that is not JSON',
    'invoice-7',
    ['--as', 'ben', '--digest', 'DIGEST', '--approve', '--input', '{'],
    usage,
  ],
  [
    'an input with a rejection',
    'invoice-7',
    ['--as', 'ben', '--digest', 'DIGEST', '--reject', '--input', '{}'],
    usage,
  ],
  ['a reason alone', 'invoice-7', ['--as', 'ben', '--digest', 'DIGEST', '--reason', 'Yes.'], usage],
  [
    'a word of an approval for a question',
    'wall',
    ['--as', 'ben', '--digest', 'DIGEST', '--approve'],
    { status: 1, code: 'invalid-answer' },
  ],
  [
    'an option for an approval',
    'invoice-7',
    ['--as', 'ben', '--digest', 'DIGEST', '--option', 'yes'],
    { status: 1, code: 'invalid-answer' },
  ],
  [
    'no such option',
    'wall',
    ['--as', 'ben', '--digest', 'DIGEST', '--option', 'green'],
    { status: 1, code: 'invalid-answer' },
  ],
  [
    'two options of a question for one',
    'wall',
    ['--as', 'ben', '--digest', 'DIGEST', '--option', 'red', '--option', 'blue'],
    { status: 1, code: 'invalid-answer' },
  ],
  [
    'an approval of a lost call',
    'trip',
    ['--as', 'ben', '--digest', 'DIGEST', '--approve'],
    { status: 1, code: 'invalid-answer' },
  ],
])('%s is refused, and the request waits on', async (_what, threadId, options, refusal) => {
  const { requestId, digest } = await see(threadId);
  const given = options.map((option) => (option === 'DIGEST' ? digest : option));
  expect(await refusalOf('answer', requestId, ...given)).toMatchObject(refusal);
  await expectOpen(threadId);
});

test('a question whose answer its tool must read is refused without the tool, with what to do', async () => {
  const { requestId, digest } = await inStore(file, async (store) => {
    const { createAgent } = await import('holdpoint');
    const { questionTools } = await import('holdpoint/tools');
    const { scriptedModel } = await import('holdpoint/testing');
    const call = {
      id: 'q',
      name: 'user_choice',
      input: { question: 'Which?', options: '["a","b"]' },
    };
    const agent = createAgent({
      store,
      model: scriptedModel([{ calls: [call] }]).model,
      tools: questionTools(),
    });
    await agent.run('Ask.', await agent.thread('ask'));
  }).then(async () => see('ask'));
  const given = ['--as', 'ben', '--digest', digest, '--option', '1'];
  expect(await refusalOf('answer', requestId, ...given)).toMatchObject({
    status: 1,
    code: 'missing-tool',
    message: expect.stringContaining('Pass --rules with a file that exports the tools'),
  });
  await expectOpen('ask');
});

test.each([
  [['--succeeded', '{"booked":"Paris"}'], { status: 'succeeded', output: { booked: 'Paris' } }],
  [['--failed', 'No seat.'], { status: 'failed', error: 'No seat.' }],
])('a lost call is settled by its thread and id: %s', async (options, outcome) => {
  const { digest } = await see('trip');
  const given = ['settle', 'trip/c1', '--as', 'olga', '--digest', digest, ...options];
  expect(await holdpoint(...given)).toMatchObject({
    status: 0,
    output: `Recorded: ${outcome.status}.\n`,
  });
  await inStore(file, async (store) => {
    const { lostCalls } = await import('../support/lost-call.ts');
    const { agent } = await lostCalls([], {}, store);
    const thread = await agent().agent.thread('trip');
    expect(thread.calls[0]?.outcome).toEqual(outcome);
    expect(thread.events.at(-1)).toMatchObject({ principal: 'olga', channel: 'command' });
  });
});

test.each<[string, string, string[], { status: number; code: string }]>([
  [
    'another digest',
    'trip',
    ['--digest', 'x', '--failed', 'No.'],
    { status: 1, code: 'answer-mismatch' },
  ],
  ['no outcome', 'trip', ['--digest', 'DIGEST'], usage],
  ['two outcomes', 'trip', ['--digest', 'DIGEST', '--failed', 'No.', '--retry'], usage],
  ['an output that is not JSON', 'trip', ['--digest', 'DIGEST', '--succeeded', 'yes'], usage],
  [
    'a retry without its tool',
    'trip',
    ['--digest', 'DIGEST', '--retry'],
    { status: 1, code: 'not-allowed' },
  ],
  [
    'an approval',
    'invoice-7',
    ['--digest', 'DIGEST', '--failed', 'No.'],
    { status: 1, code: 'not-allowed' },
  ],
])('%s settles nothing', async (_what, threadId, options, refusal) => {
  const { requestId, digest } = await see(threadId);
  const given = options.map((option) => (option === 'DIGEST' ? digest : option));
  expect(await refusalOf('settle', requestId, '--as', 'olga', ...given)).toMatchObject(refusal);
  await expectOpen(threadId);
});

test('an id that begins with a hyphen is no option', async () => {
  await inStore(file, async (store) => {
    const office = makeOffice(store, {
      calls: [{ id: 'c', name: 'pay', input: { to: 'B', euros: 1 } }],
      generateId: () => `-h${'x'.repeat(20)}`,
    });
    await office.run('Pay.', await office.thread('odd'));
  });
  const { requestId, digest } = await see('odd');
  expect(requestId).toMatch(/^-h/);
  const given = ['--as', 'ben', '--digest', digest, '--reject'];
  expect(await holdpoint('answer', requestId, ...given)).toMatchObject({ status: 0 });
  expect(await holdpoint('list', '--after', requestId)).toMatchObject({ status: 0 });
});
