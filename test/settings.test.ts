import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { tool } from 'ai';
import { createAgent, createPostHandler, HoldpointError, memoryStore } from 'holdpoint';
import { createAgUiHandler } from 'holdpoint/ag-ui';
import { createInboxHandler } from 'holdpoint/inbox';
import { guardTools, holdPoint } from 'holdpoint/middleware';
import { postgresStore } from 'holdpoint/stores/postgres';
import { sqliteStore } from 'holdpoint/stores/sqlite';
import { scriptedModel } from 'holdpoint/testing';
import { createUiHandler } from 'holdpoint/ui';
import { runWorker } from 'holdpoint/worker';
import { afterAll, expect, test } from 'vitest';
import { z } from 'zod';
import { pickCases } from './support/sampling.ts';

const { model } = scriptedModel([]);
const pay = tool({ inputSchema: z.object({ cents: z.number() }), execute: async () => 'Paid.' });
const base = { model, tools: { pay } };
const folder = mkdtempSync(join(tmpdir(), 'settings-'));
const missing = join(folder, 'none', 'threads.sqlite');
const signal = AbortSignal.timeout(60_000);
const authorize = () => ({ principal: 'ada' });

afterAll(() => rmSync(folder, { recursive: true }));

/** The mistake, what is written, and the error, without `TypeError: `. */
type Row = [mistake: string, written: () => unknown, error: string];

/* The compiler refuses each of them too. */
const rows: Row[] = [
  [
    'a misspelt status',
    // @ts-expect-error
    () => createAgent({ ...base, toolApproval: { pay: 'user-aproval' } }),
    "toolApproval.pay: 'user-aproval' is none of the statuses approved, denied, not-applicable, user-approval; did you mean 'user-approval'?",
  ],
  [
    'a misspelt type of a status',
    // @ts-expect-error
    () => createAgent({ ...base, toolApproval: { pay: { type: 'aproved' } } }),
    "toolApproval.pay: 'aproved' is none of the statuses approved, denied, not-applicable, user-approval; did you mean 'approved'?",
  ],
  [
    'a status with a setting of another',
    // @ts-expect-error
    () => createAgent({ ...base, toolApproval: { pay: { type: 'denied', quorum: 2 } } }),
    "toolApproval.pay: The status 'denied' takes no setting but a reason, which is a text.",
  ],
  [
    'needsApproval as a status',
    // @ts-expect-error
    () => createAgent({ ...base, toolApproval: { pay: true } }),
    'toolApproval.pay: A status is a text or an object with a type; got boolean.',
  ],
  [
    'the promise of a status',
    // @ts-expect-error
    () => createAgent({ ...base, toolApproval: { pay: Promise.resolve('approved') } }),
    'toolApproval.pay: A status is a text or an object with a type; got a promise.',
  ],
  [
    'rules that could not be read',
    // @ts-expect-error
    () => createAgent({ ...base, toolApproval: null }),
    'toolApproval must be a function or a plain object of rules.',
  ],
  [
    'a misspelt status behind holdPoint',
    // @ts-expect-error
    () => holdPoint({ tools: { pay }, toolApproval: { pay: 'user-aproval' } }),
    "toolApproval.pay: 'user-aproval' is none of the statuses",
  ],
  [
    'a model whose variable is not set',
    // @ts-expect-error
    () => createAgent({ ...base, model: undefined }),
    "model must be a language model of the AI SDK, such as openai('gpt-5'), or the id of one at the AI Gateway; got undefined.",
  ],
  [
    'a provider as a model',
    // @ts-expect-error
    () => createAgent({ ...base, model: () => model }),
    'model must be a language model of the AI SDK',
  ],
  [
    'an object around a model',
    // @ts-expect-error
    () => createAgent({ ...base, model: { model } }),
    "got an object without the method 'doGenerate'.",
  ],
  [
    'a mayAnswer that is no function',
    // @ts-expect-error
    () => createAgent({ ...base, mayAnswer: true }),
    "createAgent needs a function 'mayAnswer'; got boolean.",
  ],
  // Tools
  [
    'the older name of inputSchema',
    // @ts-expect-error
    () => createAgent({ model, tools: { pay: { parameters: z.object({ cents: z.number() }) } } }),
    "tools.pay has 'parameters', which the AI SDK calls 'inputSchema'.",
  ],
  [
    'a tool that is not there',
    // @ts-expect-error
    () => createAgent({ model, tools: { pay: undefined } }),
    'tools.pay must be a tool; got undefined.',
  ],
  [
    'a forgotten await before tools',
    // @ts-expect-error
    () => createAgent({ model, tools: Promise.resolve({ pay }) }),
    'tools must be an object of tools by name; got a promise.',
  ],
  // Stores
  [
    'the file of a store',
    // @ts-expect-error
    () => createAgent({ ...base, store: 'x.sqlite' }),
    "store must be a store, such as sqliteStore('threads.sqlite'); got string.",
  ],
  [
    'no store where one was meant',
    // @ts-expect-error
    () => createAgent({ ...base, store: null }),
    'store must be a store, such as',
  ],
  [
    'the same behind holdPoint',
    // @ts-expect-error
    () => holdPoint({ tools: { pay }, store: 'x.sqlite' }),
    'store must be a store, such as',
  ],
  [
    'the same of guarded tools',
    // @ts-expect-error
    () => guardTools({ pay }, { threadId: 't', store: 'x.sqlite' }),
    'store must be a store, such as',
  ],
  [
    'the URL of a database',
    // @ts-expect-error
    () => postgresStore('postgres://ada:secret@localhost/app'),
    'postgresStore needs a Pool of pg, such as new Pool({ connectionString }); got string.',
  ],
  [
    'the URL of a database to listen at',
    // @ts-expect-error
    () => postgresStore(poolOf(10), { listenPool: 'postgres://localhost/app' }),
    'listenPool must be a Pool of pg; got string.',
  ],
  [
    'a path that is not set',
    // @ts-expect-error
    () => sqliteStore(undefined),
    'sqliteStore needs the path of a file; got undefined.',
  ],
  // Workers
  [
    'a worker without an agent',
    // @ts-expect-error
    async () => runWorker({ store: memoryStore(), signal }),
    'runWorker needs an agent; got undefined.',
  ],
  [
    'a worker without a signal',
    // @ts-expect-error
    async () => runWorker({ agent: createAgent(base) }),
    'runWorker needs a signal, which ends it; got undefined.',
  ],
  [
    'a worker on the file of a store',
    // @ts-expect-error
    async () => runWorker({ agent: createAgent(base), store: 'x.sqlite', signal }),
    'runWorker needs a store; got string.',
  ],
  // Routes
  [
    'a chat that anybody may read',
    // @ts-expect-error
    () => createUiHandler({ agent: createAgent(base) }),
    "createUiHandler needs a function 'authorize'; got undefined.",
  ],
  [
    'a chat without an agent',
    // @ts-expect-error
    () => createUiHandler({ authorize }),
    'createUiHandler needs an agent; got undefined.',
  ],
  [
    'the same over AG-UI',
    // @ts-expect-error
    () => createAgUiHandler({ agent: createAgent(base) }),
    "createAgUiHandler needs a function 'authorize'; got undefined.",
  ],
  [
    'an inbox that anybody may read',
    // @ts-expect-error
    () => createInboxHandler({ agents: [createAgent(base)] }),
    "createInboxHandler needs a function 'authorize'; got undefined.",
  ],
  [
    'a route that anybody may use',
    // @ts-expect-error
    () => createPostHandler({ schema: z.object({ threadId: z.string() }), handle: async () => {} }),
    "createPostHandler needs a function 'authorize'; got undefined.",
  ],
];

/** A pool that says how many connections it opens, and has none. */
function poolOf(max: number) {
  return { query: connectToNone, connect: connectToNone, options: { max } };
}

async function connectToNone(): Promise<never> {
  throw new Error('There is no server.');
}

test.each(pickCases(rows, 3))('%s is refused when it is made', async (_mistake, written, error) => {
  const made = Promise.resolve().then(written);
  await expect(made).rejects.toThrow(TypeError);
  await expect(made).rejects.toThrow(error);
  await expect(made).rejects.not.toThrow('secret');
});

test('a worker on another store than its agent’s is refused', async () => {
  const agent = createAgent({ ...base, store: memoryStore() });
  await expect(runWorker({ agent, store: memoryStore(), signal })).rejects.toThrow(
    "runWorker's store is not its agent's, so it has none of the agent's threads. Leave out store, or create the agent with this store.",
  );
});

test('a worker of an agent that the app has wrapped needs its store', async () => {
  const { name, now, thread, run } = createAgent(base);
  const agent = { name, now, thread, run };
  await expect(runWorker({ agent, signal })).rejects.toThrow('runWorker needs the store of this');
});

test('a worker takes the store of its agent', async () => {
  const { model: scripted } = scriptedModel([
    { calls: [{ id: 'c1', name: 'pay', input: { cents: 700 } }] },
    { text: 'Paid.' },
  ]);
  const ending = new AbortController();
  const agent = createAgent({
    ...base,
    model: scripted,
    toolApproval: { pay: 'user-approval' },
    onEnd: ({ status }) => {
      if (status === 'completed') ending.abort();
    },
  });
  const thread = await agent.thread('t');
  const { approvalRequests } = await agent.run('Pay.', thread);
  await agent.respond(
    approvalRequests.map((request) => request.approve()),
    thread,
  );
  await runWorker({ agent, signal: ending.signal });
  expect((await agent.thread('t')).calls[0]?.outcome).toEqual({
    status: 'succeeded',
    output: 'Paid.',
  });
});

test.each([
  ['of one connection', poolOf(1), 'this pool opens 1'],
  [
    'of an unknown number',
    { query: poolOf(1).query, connect: poolOf(1).connect },
    'this one has no options.max that says how many it opens',
  ],
])('notices are refused of a pool %s, where no query might ever run', (_size, pool, why) => {
  const store = postgresStore(pool);
  expect(() => store.subscribe(() => {})).toThrow(TypeError);
  expect(() => store.subscribe(() => {})).toThrow(why);
});

test.each([
  ['in a folder that is missing', missing],
  ['that is a folder', folder],
])('a SQLite file %s is named in the error', (_place, path) => {
  expect(() => sqliteStore(path)).toThrow(
    new RegExp(`^The SQLite file ${path} can't be opened: .+ Its folder must exist`),
  );
});

test('an answer in a process with another store says so', async () => {
  const agents = [1, 2].map(() =>
    createAgent({
      ...base,
      model: scriptedModel([{ calls: [{ id: 'c1', name: 'pay', input: { cents: 700 } }] }]).model,
      toolApproval: { pay: 'user-approval' },
    }),
  );
  const [asking, other] = agents;
  if (asking === undefined || other === undefined) throw new Error('There are two.');
  const { approvalRequests } = await asking.run('Pay.', await asking.thread('t'));
  const answers = approvalRequests.map((request) => request.approve());
  const thread = await other.thread('t');
  const elsewhere = `The agent's store doesn't have this thread: give the agent the store of the process that asked.`;
  for (const refused of [
    other.respond(answers, thread),
    other.run(answers, thread),
    other.deliver(thread, 'c1', { status: 'succeeded', output: 1 }),
    other.settle(thread, 'c1', { status: 'succeeded', output: 1 }),
    other.withdraw(thread, 'r1', { principal: 'ada' }),
    other.remember(thread, 'r1', { scope: 'thread', match: 'exact' }, { principal: 'ada' }),
  ]) {
    await expect(refused).rejects.toMatchObject({ code: 'not-found' });
    await expect(refused).rejects.toThrow(elsewhere);
  }
  const known = await asking.thread('t');
  await expect(
    asking.respond({ type: 'approval-response', requestId: 'r9', approved: true }, known),
  ).rejects.toThrow('no request r9. Its open requests are in thread.activeRequests.');
});

test('an error prints what it has, and no field that it lacks', () => {
  const bare = new HoldpointError('thread-busy', 'Another run holds thread t.');
  expect(inspect(bare)).not.toContain('undefined');
  expect(Object.keys(bare)).toEqual(['name', 'code', 'refusedAnswers']);
  expect([bare.requestId, bare.field, bare.reason]).toEqual([undefined, undefined, undefined]);
  const options = { requestId: 'r1', field: ['cents'], reason: 'is too much' };
  expect(new HoldpointError('invalid-answer', 'No.', options)).toMatchObject(options);
});
