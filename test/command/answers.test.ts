import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AgentThread, createAgent, type ThreadStore } from 'holdpoint';
import { choice, createCustomAgent, textQuestion } from 'holdpoint/custom-agent';
import { questionTools } from 'holdpoint/tools';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { AgentOffice, ask, pay } from '../support/agent-office.ts';
import { lostCalls } from '../support/lost-call.ts';
import { runCommand } from '../support/run-holdpoint.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { book, travelWorld } from '../support/travel-world.ts';
import { inStore } from './office.ts';

const folder = mkdtempSync(join(tmpdir(), 'holdpoint-answers-'));
const rules = join(import.meta.dirname, 'rules', 'travel-rules.ts');
let count = 0;
let file: string;
beforeEach(() => {
  count += 1;
  file = join(folder, `${count}.sqlite`);
});
afterAll(() => rmSync(folder, { recursive: true }));

async function holdpoint(...args: string[]) {
  return runCommand([...args, '--store', file]);
}

/** Records something about the only thing that needs a person, as somebody who has seen it. */
async function record(command: 'answer' | 'settle', principal: string, ...options: string[]) {
  const { output } = await holdpoint('list', '--json');
  const [{ requestId }] = JSON.parse(output).requests;
  const { digest } = JSON.parse((await holdpoint('show', requestId, '--json')).output);
  return holdpoint(command, requestId, '--as', principal, '--digest', digest, ...options);
}

/** A custom agent that asks something, and its thread. */
async function askQuestion(
  store: ThreadStore,
  question: ReturnType<typeof choice>,
): Promise<AgentThread> {
  const agent = createCustomAgent({
    name: 'asker',
    store,
    step: () => ({ requests: { question } }),
  });
  const thread = await agent.thread('t');
  if (thread.messages.length === 0) await agent.run('Ask.', thread);
  return thread;
}

/** The answers in the log of a question. */
async function answersTo(question: ReturnType<typeof choice>) {
  return inStore(file, async (store) => {
    const [decision] = (await askQuestion(store, question)).decisions;
    return decision?.response;
  });
}

test.each([
  [
    choice('Which?', ['a', 'b'], { max: 2 }),
    ['--option', 'a', '--option', 'b'],
    { answers: [{ key: 'answer', optionIds: ['a', 'b'] }] },
  ],
  [
    choice('Which?', ['a'], { allowText: true }),
    ['--text', 'a'],
    { answers: [{ key: 'answer', optionIds: [], text: 'a' }] },
  ],
  [
    choice('Which?', ['a'], { allowText: true }),
    ['--option', 'a', '--text', 'b'],
    { answers: [{ key: 'answer', optionIds: ['a'], text: 'b' }] },
  ],
  [
    textQuestion('Why?'),
    ['--text', '--approve'],
    { answers: [{ key: 'answer', optionIds: [], text: '--approve' }] },
  ],
  [
    choice('Which?', ['a']),
    ['--answers', '{"answer":"a"}'],
    { answers: [{ key: 'answer', optionIds: ['a'] }] },
  ],
  [choice('Which?', ['a']), ['--dismiss'], { status: 'dismissed' }],
])('a question is answered as its fields allow: %#', async (question, options, response) => {
  await inStore(file, async (store) => askQuestion(store, question));
  expect(await record('answer', 'ben', ...options)).toMatchObject({ status: 0, error: '' });
  expect(await answersTo(question)).toMatchObject(response);
});

test.each([
  [
    'a question that must be answered is not dismissed',
    choice('Which?', ['a'], { allowDismiss: false }),
    ['--dismiss'],
  ],
  [
    'answers by other names are refused',
    choice('Which?', ['a']),
    ['--answers', '{"constructor":"a"}'],
  ],
  ['answers that are no object are refused', choice('Which?', ['a']), ['--answers', '["a"]']],
])('%s', async (_what, question, options) => {
  await inStore(file, async (store) => askQuestion(store, question));
  expect(await record('answer', 'ben', ...options, '--json')).toMatchObject({
    status: 1,
    output: expect.stringContaining('"invalid-answer"'),
  });
  expect(await answersTo(question)).toBeUndefined();
});

test('a question of a tool is answered by rules that have the tool', async () => {
  const input = { question: 'Which?', options: '["a","b"]' };
  await inStore(file, async (store) => {
    const { model } = scriptedModel([{ calls: [{ id: 'q', name: 'user_choice', input }] }]);
    const agent = createAgent({ store, model, tools: questionTools() });
    await agent.run('Ask.', await agent.thread('t'));
  });
  const answered = await record('answer', 'ben', '--option', '2', '--rules', rules);
  expect(answered).toMatchObject({ status: 0, output: 'Recorded: answered.\n' });
});

/** Asks two people to approve a flight, who may edit it. */
async function askTwo(store: ThreadStore): Promise<void> {
  const played = scriptedModel([{ calls: [book('c', 'Paris')] }]);
  const rule = { type: 'user-approval', quorum: 2, editable: true } as const;
  const agent = travelWorld(played, () => store).agent({ toolApproval: { book: rule } });
  await agent.run('Book.', await agent.thread('t'), { principal: 'eve' });
}

test('an approval of several says how many there are, and the same person counts once', async () => {
  await inStore(file, async (store) => askTwo(store));
  const first = { status: 0, output: 'Recorded: 1 of 2 approvals. It waits for others.\n' };
  for (let times = 0; times < 2; times += 1) {
    expect(await record('answer', 'ben', '--approve')).toMatchObject(first);
  }
  expect(await record('answer', 'cleo', '--approve')).toMatchObject({
    output: 'Recorded: approved.\n',
  });
});

test.each(['{}', '{"id":" "}', '{"roles":["finance"]}'])(
  'an approval by %s, who is nobody, is not recorded',
  async (principal) => {
    await inStore(file, async (store) => askTwo(store));
    expect(await record('answer', principal, '--approve')).toMatchObject({
      status: 2,
      error: expect.stringContaining('--as names nobody: it is an object without'),
    });
    const { output } = await holdpoint('list', '--json');
    expect(JSON.parse(output).requests).toMatchObject([{ state: 'open', votes: 0 }]);
  },
);

test.each([
  ['{"city":"Rome","city":"Oslo"}', 'an object has the key "city" twice'],
  [String.raw`{"city":{"a":1,"b":{"a":2},"\u0061":3}}`, 'an object has the key "a" twice'],
  ['{"city":"Rome","price":9007199254740993}', 'the integer 9007199254740992 is outside'],
  ['{"city":"Rome"', 'Not JSON'],
])(
  'an edit to %s, which readers may understand differently, is not recorded',
  async (input, why) => {
    await inStore(file, async (store) => askTwo(store));
    expect(await record('answer', 'ben', '--approve', '--input', input)).toMatchObject({
      status: 2,
      error: expect.stringContaining(why),
    });
    const { output } = await holdpoint('list', '--json');
    expect(JSON.parse(output).requests).toMatchObject([{ state: 'open', votes: 0 }]);
  },
);

test.each([
  [['--answers', '{"answer":"a","answer":"b"}']],
  [['--option', 'a', '--as', '{"id":"ben","id":"olga"}']],
])('an answer with a key twice is not recorded: %j', async (options) => {
  const question = choice('Which?', ['a', 'b']);
  await inStore(file, async (store) => askQuestion(store, question));
  expect(await record('answer', 'ben', ...options)).toMatchObject({
    status: 2,
    error: expect.stringContaining('twice'),
  });
  expect(await answersTo(question)).toBeUndefined();
});

test('braces, quotes and colons in texts are no keys', async () => {
  await inStore(file, async (store) => askTwo(store));
  const city = String.raw`{"city":"a\":\\","b":[{"city":"}:{"},{"city":"\"city\":"}]}`;
  expect(await record('answer', 'ben', '--approve', '--input', city)).toMatchObject({
    error: expect.not.stringContaining('twice'),
  });
});

test('a request that somebody has edited since it was shown is refused with the digest of before', async () => {
  await inStore(file, async (store) => askTwo(store));
  const { output } = await holdpoint('list', '--json');
  const [{ requestId, request }] = JSON.parse(output).requests;
  await record('answer', 'ben', '--approve', '--input', '{"city":"Rome"}');
  const late = [
    'answer',
    requestId,
    '--as',
    'cleo',
    '--digest',
    request.digest,
    '--approve',
    '--json',
  ];
  expect(await holdpoint(...late)).toMatchObject({
    status: 1,
    output: expect.stringContaining('"answer-mismatch"'),
  });
  expect((await holdpoint('show', requestId)).output).toContain('city: "Paris" → "Rome"');
});

test('a request of a sub-agent is shown with who asks, and is refused without the agents, with what to do', async () => {
  await inStore(file, async (store) => {
    const office = new AgentOffice(store);
    const buyer = office.payer('buyer', [{ calls: [pay('c', 'ACME')] }]);
    const tools = { buy: office.tool(buyer) };
    const manager = office.agent('manager', [{ calls: [ask('c', 'buy', 'Pay ACME.')] }], { tools });
    await manager.run('Buy.', await manager.thread('t'), { principal: 'eve' });
  });
  const { output } = await holdpoint('list', '--json');
  const [{ requestId }] = JSON.parse(output).requests;
  expect((await holdpoint('show', requestId)).output).toContain('Asked by: buyer\n');
  expect(await record('answer', 'ben', '--approve')).toMatchObject({
    status: 1,
    error: expect.stringContaining(
      'Pass --rules with a file that exports the tools of the agent too',
    ),
  });
});

test('a lost call is approved once more by rules that have its tool, and runs', async () => {
  const { agent } = await lostCalls(['t']);
  const lost = JSON.stringify(await agent().agent.thread('t'));
  await inStore(file, async (store) => {
    await createAgent({ model: scriptedModel([]).model, store }).restore(lost);
  });
  expect(await record('settle', 'olga', '--retry', '--rules', rules)).toMatchObject({
    status: 0,
    output: 'Recorded: retry.\n',
  });
  await inStore(file, async (store) => {
    const world = travelWorld(scriptedModel([{ text: 'Done.' }]), () => store);
    const again = world.agent();
    const thread = await again.thread('t');
    await again.run([], thread);
    expect(world.ran).toMatchObject([{ name: 'book', input: { city: 'Paris' } }]);
    expect(thread.decisions.at(-1)).toMatchObject({ status: 'approved', principal: 'olga' });
  });
});

test('an outcome with a key twice settles nothing', async () => {
  const { agent } = await lostCalls(['t']);
  const lost = JSON.stringify(await agent().agent.thread('t'));
  await inStore(file, async (store) => {
    await createAgent({ model: scriptedModel([]).model, store }).restore(lost);
  });
  const settled = await record('settle', 'olga', '--succeeded', '{"seat":1,"seat":2}');
  expect(settled).toMatchObject({ status: 2, error: expect.stringContaining('twice') });
  const { output } = await holdpoint('list', '--json');
  expect(JSON.parse(output).requests).toMatchObject([{ kind: 'lost-call', state: 'open' }]);
});

test('a stuck thread is shown with its last error, and is not settled', async () => {
  await inStore(file, async (store) => {
    const { model } = scriptedModel(() => {
      throw new Error('The provider\u202E is down.');
    });
    const agent = createAgent({ store, model, maxRetries: 0, retry: { maxAttempts: 1 } });
    await agent.run('Hi.', await agent.thread('t')).catch(() => {});
  });
  const { output } = await holdpoint('list', '--json');
  const [{ requestId, kind }] = JSON.parse(output).requests;
  expect(kind).toBe('stuck-thread');
  expect((await holdpoint('show', requestId)).output).toContain(
    'Failed runs in a row: 1\nIts last error: The provider\\u{202e} is down.\n',
  );
  expect(await record('settle', 'olga', '--failed', 'No.')).toMatchObject({
    status: 1,
    error: expect.stringContaining('your app tries it once more'),
  });
});
