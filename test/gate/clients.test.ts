import { PassThrough } from 'node:stream';
import type { Client, ClientOptions } from '@modelcontextprotocol/client';
import { InMemoryTransport } from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import type { GateOptions } from 'holdpoint/mcp';
import { expect, test } from 'vitest';
import {
  answerOnly,
  connect,
  makeBank,
  makeWorld,
  onlyRequest,
  payment,
  readTexts,
  TestClient,
} from './gate-world.ts';
import { authorize, connectHttp, fetchAs } from './http-clients.ts';
import { pickCases } from '../support/sampling.ts';

const eras = ['legacy', 'auto'] as const;
type Gate = ReturnType<typeof makeWorld>['gate'];

/** A client that the gate serves over a transport instead of standard input and output. */
async function connectStdio(gate: Gate, mode: (typeof eras)[number], options: ClientOptions = {}) {
  const [mine, transport] = InMemoryTransport.createLinkedPair();
  const served = gate.serveStdio({ principal: 'ada', transport });
  const client = new TestClient(
    { name: 'claude-code', version: '1' },
    { ...options, versionNegotiation: { mode } },
  );
  await client.connect(mine);
  await client.listTools();
  return { client, served };
}

const page: Pick<GateOptions, 'pageUrl'> = {
  pageUrl: ({ shownTo }) => `http://localhost:4242/${shownTo}`,
};
const showsPages = { capabilities: { elicitation: { url: {} } } };

/** A client that shows pages, and what it was asked to show. */
function watchPages(action: 'accept' | 'decline' | 'cancel') {
  const shown: unknown[] = [];
  const watch = (client: Client): void =>
    client.setRequestHandler('elicitation/create', ({ params }) => {
      shown.push(params);
      return { action };
    });
  return { shown, watch };
}

test.each(pickCases(eras, 3))(
  'over stdio (%s), a call is held, and its client gone, the gate is done',
  async (mode) => {
    const { gate, bank, clock } = makeWorld();
    const { client, served } = await connectStdio(gate, mode);
    const held = client.callTool(payment);
    await clock.pass(1_000);
    const { threadId } = await onlyRequest(gate);
    await answerOnly(gate, (request) => request.approve());
    await clock.pass(2_000);
    expect(readTexts(await held)).toEqual(['pay done']);
    void client.callTool(payment).catch(() => {});
    await clock.pass(1_000);
    const left = await onlyRequest(gate);
    expect(left.threadId).not.toBe(threadId);
    await client.close();
    await served;
    await gate.close();
    expect((await gate.agent.thread(left.threadId)).caller).toMatchObject({ state: 'left' });
    expect(bank.calls).toHaveLength(1);
  },
);

test.each(
  eras.flatMap((mode) =>
    (['accept', 'decline', 'cancel'] as const).map((action) => [mode, action] as const),
  ),
)(
  'a client (%s) that can show a page is asked to once, and its %s decides nothing',
  async (mode, action) => {
    const { gate, bank, clock } = makeWorld(page);
    const { shown, watch } = watchPages(action);
    const { client } = await connectStdio(gate, mode, showsPages);
    watch(client);
    const held = client.callTool(payment);
    await clock.pass(5_000);
    expect(shown).toMatchObject([
      {
        mode: 'url',
        url: 'http://localhost:4242/person',
        message: 'A person has to decide whether "pay" may run. Open this page to decide.',
      },
    ]);
    expect(bank.calls).toEqual([]);
    await answerOnly(gate, (request) => request.approve());
    await clock.pass(2_000);
    expect(readTexts(await held)).toEqual(['pay done']);
    expect(shown).toHaveLength(1);
    expect(bank.calls).toHaveLength(1);
  },
);

test.each(pickCases(eras, 3))(
  'over HTTP (%s), a client that can show a page is asked to',
  async (mode) => {
    const { gate, clock } = makeWorld({ ...page, authorize });
    const { shown, watch } = watchPages('accept');
    const client = await connectHttp(fetchAs(gate, 'ada'), mode, showsPages);
    watch(client);
    const held = client.callTool(payment);
    await clock.pass(5_000);
    expect(shown).toHaveLength(1);
    await answerOnly(gate, (request) => request.approve());
    await clock.pass(2_000);
    expect(readTexts(await held)).toEqual(['pay done']);
  },
);

test('a client that can only show forms is asked nothing', async () => {
  const { gate, clock } = makeWorld(page);
  const { shown, watch } = watchPages('accept');
  const { client } = await connectStdio(gate, 'legacy', {
    capabilities: { elicitation: { form: {} } },
  });
  watch(client);
  const held = client.callTool(payment);
  await clock.pass(45_000);
  expect(readTexts(await held)[0]).toMatch(/^Pending.* A person can answer at http:.*\/model$/);
  expect(shown).toEqual([]);
});

test.each([
  ['an address that is no web page', () => 'javascript:alert(1)', 'not an http(s) URL'],
  ['an error', () => Promise.reject(new Error('no page')), 'pageUrl failed'],
])('%s of pageUrl is reported, and shown to nobody', async (_name, pageUrl, problem) => {
  const { gate, clock, problems } = makeWorld({ pageUrl });
  const client = await connect(gate, { principal: 'ada' }, showsPages);
  const held = client.callTool(payment);
  await clock.pass(45_000);
  expect(readTexts(await held)[0]).toMatch(/nobody is asked twice\.$/);
  const reported = { problem: expect.stringContaining(problem) };
  expect(problems).toMatchObject([reported, reported]);
});

test.each(pickCases(eras, 3))(
  'a client (%s) that asks for progress hears that its call waits',
  async (mode) => {
    const { gate, clock } = makeWorld();
    const { client } = await connectStdio(gate, mode);
    const heard: unknown[] = [];
    const held = client.callTool(payment, { onprogress: (progress) => void heard.push(progress) });
    await clock.pass(17_000);
    expect(heard).toEqual(
      [1, 2, 3].map((progress) => ({ progress, message: expect.stringContaining('"pay"') })),
    );
    await answerOnly(gate, (request) => request.approve());
    await clock.pass(2_000);
    await held;
    await clock.pass(20_000);
    expect(heard).toHaveLength(3);
  },
);

test('a gate that closes tells its clients that their calls are pending, and takes no others', async () => {
  const { gate, clock, bank } = makeWorld();
  const client = await connect(gate);
  const held = client.callTool(payment);
  await clock.pass(1_000);
  const { threadId } = await onlyRequest(gate);
  const closing = gate.close();
  await clock.pass(100);
  expect(readTexts(await held)[0]).toMatch(/^Pending/);
  await closing;
  expect((await gate.agent.thread(threadId)).caller).toMatchObject({ state: 'pending' });
  expect(bank.calls).toEqual([]);
});

test('a gate that closes waits for the calls that run', async () => {
  const answer = Promise.withResolvers<void>();
  const bank = makeBank(async () => {
    await answer.promise;
    return { content: [{ type: 'text', text: 'done at last' }] };
  });
  const { gate, clock } = makeWorld({ bank, toolApproval: () => 'approved' });
  const client = await connect(gate);
  const running = client.callTool(payment);
  await clock.pass(100);
  let isClosed = false;
  const closing = gate.close().then(() => (isClosed = true));
  await clock.pass(100);
  expect(isClosed).toBe(false);
  answer.resolve();
  expect(readTexts(await running)).toEqual(['done at last']);
  await closing;
});

test.each([
  ['an unknown setting', { holdMS: 1 }, "no setting 'holdMS'; did you mean 'holdMs'"],
  ['a time that is none', { holdMs: Number.NaN }, 'holdMs must be'],
  ['an origin that is none', { allowedOrigins: ['x'] }, 'allowedOrigins has "x"'],
  ['rules that are no object', { toolApproval: 'approved' }, 'toolApproval must be'],
  ['a name that is too long', { name: 'x'.repeat(91) }, 'has at most 90 characters; got 91'],
])('%s is a TypeError', (_name, options: object, message) => {
  expect(() => makeWorld({ ...options })).toThrow(message);
});

test('a rule for a tool that no server has is reported', async () => {
  const { gate, problems } = makeWorld({ toolApproval: { pya: 'user-approval' } });
  await connect(gate);
  expect(problems).toEqual([{ problem: 'A rule names "pya", which fits no tool of this gate.' }]);
});

test('over stdio, what a client sends that can not be read is a problem that is reported', async () => {
  const { gate, problems } = makeWorld();
  const input = new PassThrough();
  const served = gate.serveStdio({
    principal: 'ada',
    transport: new StdioServerTransport(input, new PassThrough()),
  });
  /* More than the protocol's library takes of one message. */
  input.write('x'.repeat(11 * 1_024 * 1_024));
  await served;
  expect(problems).toMatchObject([
    {
      problem: 'What the client sent could not be read.',
      error: expect.objectContaining({ message: expect.stringContaining('size') }),
    },
  ]);
  await gate.close();
});
