import { expect, test } from 'vitest';
import { z } from 'zod';
import { answerOnly, listOpen, makeWorld, onlyRequest, payment, readTexts } from './gate-world.ts';
import { authorize, connectHttp, fetchAs, gateUrl, httpClients } from './http-clients.ts';

test.each(Object.entries(httpClients))(
  '%s over HTTP has a call held, and collects one that was pending',
  async (_name, open) => {
    const { gate, bank, clock } = makeWorld({ authorize });
    const client = await open(fetchAs(gate, 'ada'));
    const held = client.call('pay', payment.arguments);
    await clock.pass(1_000);
    expect(await onlyRequest(gate)).toMatchObject({ requestedBy: 'ada' });
    await answerOnly(gate, (request) => request.approve());
    await clock.pass(2_000);
    expect(await held).toEqual(['pay done']);
    await clock.pass(0);

    const pending = client.call('pay', payment.arguments);
    await clock.pass(45_000);
    expect((await pending)[0]).toMatch(/^Pending/);
    await answerOnly(gate, (request) => request.approve());
    await client.close();
    const again = await open(fetchAs(gate, 'ada'));
    expect(await again.call('pay', payment.arguments)).toEqual(['pay done']);
    expect(bank.calls).toHaveLength(2);
    await gate.close();
  },
);

const headers = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  'x-user': 'ada',
};

const initialize = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'claude-code', version: '1' },
  },
};

const listTools = { jsonrpc: '2.0', id: 'list', method: 'tools/list' };

const callPay = { jsonrpc: '2.0', id: 2, method: 'tools/call', params: payment };

/** A request as an older client sends it. */
function post(body: unknown, more: Record<string, string> = {}): Request {
  return new Request(gateUrl, {
    method: 'POST',
    headers: { ...headers, ...more },
    body: JSON.stringify(body),
  });
}

const errorSchema = z.object({ error: z.object({ code: z.string() }) });

async function readRefusal(response: Response): Promise<[number, string]> {
  const text = await response.text();
  if (response.ok) return [response.status, text];
  return [response.status, errorSchema.parse(JSON.parse(text)).error.code];
}

test.each([
  [
    'a page of another site',
    { origin: 'https://evil.example' },
    initialize,
    [403, 'foreign-origin'],
  ],
  ['nobody', { 'x-user': '' }, initialize, [403, 'not-allowed']],
  ['a form', { 'content-type': 'text/plain' }, initialize, [415, 'unsupported-media-type']],
  ['too long a body', {}, { ...initialize, more: 'x'.repeat(2_000_000) }, [413, 'too-large']],
  ['a call without a session', {}, callPay, [400, 'invalid-input']],
  ['an unknown session', { 'mcp-session-id': 'x' }, callPay, [404, 'not-found']],
])('%s is refused', async (_name, more, body, refusal) => {
  const { gate, bank } = makeWorld({ authorize, toolApproval: () => 'approved' });
  expect(await readRefusal(await gate.handler(post(body, more)))).toEqual(refusal);
  expect(bank.calls).toEqual([]);
});

/** A session of an older client. */
async function openSession(gate: ReturnType<typeof makeWorld>['gate'], user = 'ada') {
  const response = await gate.handler(post(initialize, { 'x-user': user }));
  await response.text();
  const id = response.headers.get('mcp-session-id') ?? '';
  const listed = await gate.handler(post(listTools, { 'x-user': user, 'mcp-session-id': id }));
  await listed.text();
  expect(id).toMatch(/^[\w-]{22}$/);
  return id;
}

test('a session belongs to the person who opened it', async () => {
  const { gate, bank } = makeWorld({ authorize, toolApproval: () => 'approved' });
  const id = await openSession(gate);
  const stolen = post(callPay, { 'x-user': 'eve', 'mcp-session-id': id });
  expect(await readRefusal(await gate.handler(stolen))).toEqual([404, 'not-found']);
  expect(bank.calls).toEqual([]);
  const own = await gate.handler(post(callPay, { 'mcp-session-id': id }));
  expect(await own.text()).toContain('pay done');
});

test('a session belongs to the place that it was opened from', async () => {
  const { gate, bank } = makeWorld({
    authorize: ({ request }) => ({
      principal: 'ada',
      place: request.headers.get('x-user') ?? 'nowhere',
    }),
    toolApproval: () => 'approved',
  });
  const id = await openSession(gate);
  const elsewhere = post(callPay, { 'x-user': 'another place', 'mcp-session-id': id });
  expect(await readRefusal(await gate.handler(elsewhere))).toEqual([404, 'not-found']);
  expect(bank.calls).toEqual([]);
});

test('of too many sessions, the one that was idle for the longest is closed, but none that is in use', async () => {
  const { gate, clock } = makeWorld({ authorize, maximumSessions: 2 });
  const [first, second] = [await openSession(gate), await openSession(gate)];
  const held = await gate.handler(post(callPay, { 'mcp-session-id': first }));
  await openSession(gate);
  const closed = await gate.handler(post(callPay, { 'mcp-session-id': second }));
  expect(closed.status).toBe(404);
  await held.body?.cancel();
  await clock.pass(0);
});

test('a person who has all sessions that one person may have loses the oldest of their own', async () => {
  const { gate, clock } = makeWorld({ authorize, maximumSessionsPerPerson: 2 });
  const others = await openSession(gate, 'bo');
  await clock.pass(1);
  const [first, second] = [await openSession(gate), await openSession(gate)];
  await openSession(gate);
  const isOpen = async (id: string, user = 'ada'): Promise<boolean> =>
    (await gate.handler(post(listTools, { 'mcp-session-id': id, 'x-user': user }))).ok;
  expect(await Promise.all([isOpen(first), isOpen(second), isOpen(others, 'bo')])).toEqual([
    false,
    true,
    true,
  ]);
});

test('of sessions that one person opens at once, as many are opened as may be', async () => {
  const { gate } = makeWorld({ authorize, maximumSessionsPerPerson: 2 });
  const open = async () => gate.handler(post(initialize));
  const responses = await Promise.all([open(), open(), open(), open()]);
  expect(responses.filter(({ status }) => status === 503)).toHaveLength(2);
  await Promise.all(responses.map(async (response) => response.text()));
  expect((await open()).status).toBe(200);
});

test('a client that is refused takes no session', async () => {
  const { gate } = makeWorld({ authorize, maximumSessions: 1 });
  const broken = post(initialize, { accept: 'text/html' });
  expect((await gate.handler(broken)).status).toBe(406);
  await openSession(gate);
});

test('while all sessions are in use, no other is opened', async () => {
  const { gate } = makeWorld({ authorize, maximumSessions: 1 });
  const id = await openSession(gate);
  const held = await gate.handler(post(callPay, { 'mcp-session-id': id }));
  const refused = await gate.handler(post(initialize));
  expect(await readRefusal(refused)).toEqual([503, 'too-many-sessions']);
  await held.body?.cancel();
});

test('an idle session is closed', async () => {
  const { gate, clock } = makeWorld({ authorize, sessionIdleMs: 60_000 });
  const id = await openSession(gate);
  await clock.pass(60_000);
  const late = await gate.handler(post(callPay, { 'mcp-session-id': id }));
  expect(late.status).toBe(404);
});

/** Has a client disconnect from a call that is held. */
const disconnections: Record<string, (gate: Gate, clock: VirtualClock) => Promise<void>> = {
  'a response that is read no longer': async (gate, clock) => {
    const id = await openSession(gate);
    const held = await gate.handler(post(callPay, { 'mcp-session-id': id }));
    await clock.pass(1_000);
    await held.body?.cancel();
  },
  'a request that is aborted': async (gate, clock) => {
    const cutting = new AbortController();
    const id = await openSession(gate);
    const request = post(callPay, { 'mcp-session-id': id });
    await gate.handler(new Request(request, { signal: cutting.signal }));
    await clock.pass(1_000);
    cutting.abort();
  },
  'a cancelled call of protocol 2026-07-28': async (gate, clock) => {
    const cutting = new AbortController();
    const client = await connectHttp(fetchAs(gate, 'ada'), 'auto');
    client.callTool(payment, { signal: cutting.signal }).catch(() => {});
    await clock.pass(1_000);
    cutting.abort();
  },
};

type Gate = ReturnType<typeof makeWorld>['gate'];
type VirtualClock = ReturnType<typeof makeWorld>['clock'];

test.each(Object.entries(disconnections))(
  '%s: the approved call waits, and another connection collects it',
  async (_name, disconnect) => {
    const { gate, bank, clock } = makeWorld({ authorize });
    await disconnect(gate, clock);
    await clock.pass(100);
    const threadId = await answerOnly(gate, (request) => request.approve());
    await clock.pass(60_000);
    expect(bank.calls).toEqual([]);
    expect((await gate.agent.thread(threadId)).caller).toMatchObject({ state: 'left' });
    const client = await connectHttp(fetchAs(gate, 'ada'), 'legacy');
    expect(readTexts(await client.callTool(payment))).toEqual(['pay done']);
    expect(bank.calls).toHaveLength(1);
  },
);

test('nothing is asked and nothing runs for a client that has disconnected while it was signed in', async () => {
  const cutting = new AbortController();
  let isSlow = false;
  const { gate, bank, clock } = makeWorld({
    authorize: async (given) => {
      if (isSlow) cutting.abort();
      return authorize(given);
    },
  });
  const id = await openSession(gate);
  isSlow = true;
  const request = post(callPay, { 'mcp-session-id': id });
  await gate.handler(new Request(request, { signal: cutting.signal }));
  await clock.pass(60_000);
  expect((await gate.agent.requests({ principal: 'boss' })).requests).toEqual([]);
  expect(bank.calls).toEqual([]);
});

test('a result that no one read over HTTP is collected, and not noted as sent', async () => {
  const { gate, bank, clock } = makeWorld({ authorize, toolApproval: () => 'approved' });
  const id = await openSession(gate);
  const response = await gate.handler(post(callPay, { 'mcp-session-id': id }));
  await clock.pass(100);
  expect(bank.calls).toHaveLength(1);
  await response.body?.cancel();
  await clock.pass(100);
  const client = await connectHttp(fetchAs(gate, 'ada'), 'legacy');
  expect(readTexts(await client.callTool(payment))).toEqual(['pay done']);
  expect(bank.calls).toHaveLength(1);
});

test('a gate without authorize serves nobody over HTTP', async () => {
  const { gate } = makeWorld();
  await expect(gate.handler(post(initialize))).rejects.toThrow('needs the option `authorize`');
});

/** A call over a connection that has died: nobody reads its response, and nobody says so. */
async function callAndSleep(gate: Gate, call: Record<string, unknown>): Promise<void> {
  const id = await openSession(gate);
  await gate.handler(post({ ...callPay, params: call }, { 'mcp-session-id': id }));
}

test('a call that a client makes again after its connection has died without a word is another one, and after the hold the same', async () => {
  const { gate, bank, clock } = makeWorld({ authorize });
  await callAndSleep(gate, payment);
  await clock.pass(30_000);
  expect(await listOpen(gate)).toHaveLength(1);
  const client = await connectHttp(fetchAs(gate, 'ada'), 'auto');
  const second = client.callTool(payment);
  await clock.pass(1_000);
  expect(await listOpen(gate)).toHaveLength(2);
  await clock.pass(20_000);
  const third = client.callTool(payment);
  await clock.pass(26_000);
  expect(readTexts(await second)[0]).toMatch(/^Pending/);
  expect(await listOpen(gate)).toHaveLength(2);
  await clock.pass(20_000);
  expect(readTexts(await third)[0]).toMatch(/^Pending/);
  expect(bank.calls).toEqual([]);
});

test('a call that a client makes again with its id after its connection has died without a word is the same one', async () => {
  const { gate, bank, clock } = makeWorld({ authorize });
  const call = { ...payment, _meta: { 'claudecode/toolUseId': 'toolu_01A09q90qw90lq917835lq9' } };
  await callAndSleep(gate, call);
  await clock.pass(1_000);
  const client = await connectHttp(fetchAs(gate, 'ada'), 'auto');
  const again = client.callTool(call);
  await clock.pass(1_000);
  await answerOnly(gate, (request) => request.approve());
  await clock.pass(2_000);
  expect(readTexts(await again)).toEqual(['pay done']);
  expect(bank.calls).toHaveLength(1);
});

test('a request with the id of one that is being answered is refused, as its client would get the result of the other one', async () => {
  const { gate, bank, clock } = makeWorld({ authorize });
  const id = await openSession(gate);
  const session = { 'mcp-session-id': id };
  const held = await gate.handler(post(callPay, session));
  const other = { ...callPay, params: { ...payment, arguments: { to: 'ACME', euros: 1 } } };
  const refused = await gate.handler(post(other, session));
  expect(refused.status).toBe(400);
  expect(await readRefusal(refused)).toEqual([400, 'invalid-input']);
  await clock.pass(1_000);
  await answerOnly(gate, (request) => request.approve());
  const told = held.text();
  await clock.pass(2_000);
  expect(await told).toContain('pay done');
  expect(bank.calls).toMatchObject([{ arguments: payment.arguments }]);
  const later = await gate.handler(post(other, session));
  expect(later.status).toBe(200);
  await later.body?.cancel();
  await clock.pass(1_000);
});

test('a request with more messages than a client sends at once is refused before they are read', async () => {
  const { gate } = makeWorld({ authorize });
  const session = { 'mcp-session-id': await openSession(gate) };
  const many = Array.from({ length: 101 }, (_, id) => ({ ...listTools, id }));
  expect(await readRefusal(await gate.handler(post(many, session)))).toEqual([
    400,
    'invalid-input',
  ]);
  await gate.close();
});
