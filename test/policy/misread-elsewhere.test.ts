import { jsonSchema, tool } from 'ai';
import {
  type AgentOptions,
  type ApprovalRequest,
  createAgent,
  hidePrincipals,
  memoryStore,
  type SettingFailure,
} from 'holdpoint';
import { createInboxHandler } from 'holdpoint/inbox';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { AgentOffice, ask as askAgent, pay as payTo } from '../support/agent-office.ts';
import { errorCode } from '../support/error-code.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { pickCases } from '../support/sampling.ts';

type MayAnswer = NonNullable<AgentOptions['mayAnswer']>;
type InputSchema = z.ZodType | ReturnType<typeof jsonSchema>;

const takesAnything = { validate: (value: unknown) => ({ success: true as const, value }) };

beforeEach(() => {
  vi.spyOn(console, 'warn').mockReturnValue();
});
afterEach(() => {
  vi.restoreAllMocks();
});

/** A `mayAnswer` that lets everybody answer unless what it reads at a path of the input is large. */
function letAnswerUnlessLarge(path: string): MayAnswer {
  return ({ request }) => {
    if (request.type !== 'approval-request') return true;
    const found = path
      .split('.')
      .reduce<unknown>((value, name) => Reflect.get(Object(value), name), request.toolCall?.input);
    return !(Number(found) > 100);
  };
}

/** A schema of parts in parts, each of which names the place of one of them: written out, it is as long as the square of its depth. */
function chainOfParts(depth: number): InputSchema {
  let part: object = {};
  for (let level = depth; level > 0; level -= 1) {
    const $ref = `#${'/properties/part'.repeat(level)}`;
    part = { type: 'object', properties: { part, other: { $ref } } };
  }
  return jsonSchema(part, takesAnything);
}

/** A request of an agent without `mayAnswer`, and the answering agent of a process without tools. */
async function requestElsewhere(inputSchema: InputSchema, input: unknown, options: object = {}) {
  const store = memoryStore();
  const pay = tool({ description: 'Pays.', inputSchema, execute: async () => 'Paid.' });
  const { model } = scriptedModel([
    { calls: [{ id: 'c1', name: 'pay', input: JSON.parse(JSON.stringify(input)) }] },
    { text: 'Done.' },
  ]);
  const toolApproval = { pay: { type: 'user-approval' as const, ...options } };
  const worker = createAgent({ name: 'office', model, store, tools: { pay }, toolApproval });
  const working = await worker.thread('t');
  await worker.run('Pay ACME.', working, { principal: 'ada' });
  const failures: SettingFailure[] = [];
  const elsewhere = async (mayAnswer: MayAnswer) => {
    const agent = createAgent({
      name: 'office',
      model: scriptedModel([]).model,
      store,
      mayAnswer,
    });
    agent.on('setting-failed', (failure) => failures.push(failure));
    const thread = await agent.thread('t');
    const [request] = thread.activeApprovalRequests;
    if (request === undefined) throw new Error('Nothing was asked.');
    return { agent, thread, request };
  };
  return { store, worker, working, elsewhere, failures };
}

const by = { principal: 'clerk' };
const bill = z.object({ euros: z.number(), note: z.string().optional() });
const order = z.object({
  customer: z.object({ id: z.string(), limit: z.number().optional() }),
  lines: z.array(z.object({ item: z.string(), tax: z.number().optional() })),
  prices: z.record(z.string(), z.number()),
  payer: z.union([z.object({ iban: z.string() }), z.null()]),
});
const ordered = {
  customer: { id: 'ACME' },
  lines: [{ item: 'Chairs' }],
  prices: {},
  payer: { iban: 'DE00' },
};
interface Node {
  euros: number;
  parts?: Node[] | undefined;
}
const node: z.ZodType<Node> = z.object({
  euros: z.number(),
  get parts() {
    return z.array(node).optional();
  },
});
const tree = { euros: 1, parts: [{ euros: 1, parts: [{ euros: 1 }] }] };
const shared = jsonSchema(
  {
    type: 'object',
    properties: { order: { $ref: '#/components/bill' } },
    components: { bill: { type: 'object', properties: { euros: { type: 'number' } } } },
  },
  takesAnything,
);

const declared: [string, InputSchema, unknown, path: string][] = [
  ['an optional field', bill, { euros: 5_000 }, 'note'],
  ['an optional field of a part', order, ordered, 'customer.limit'],
  ['an optional field of an item', order, ordered, 'lines.0.tax'],
  ['a name of a record', order, ordered, 'prices.chairs'],
  ['an optional field of a part that contains itself', node, tree, 'parts.0.parts.0.parts'],
  ['a field that an open schema may have', z.looseObject(bill.shape), { euros: 1 }, 'amount'],
  ['a field of a schema that lists none', jsonSchema({}, takesAnything), { euros: 1 }, 'amount'],
  ['a field of a definition', shared, { order: {} }, 'order.euros'],
];
const undeclared: [string, InputSchema, unknown, path: string][] = [
  ['a field', bill, { euros: 5_000 }, 'amount'],
  ['a field of a part', order, ordered, 'customer.limt'],
  ['a field of an item', order, ordered, 'lines.0.price'],
  ['a field of a list', order, ordered, 'lines.total'],
  ['a field of a part that may be null', order, ordered, 'payer.amount'],
  ['a field of a part that contains itself', node, tree, 'parts.0.parts.0.amount'],
  ['a field of a strict schema without fields', z.strictObject({}), {}, 'amount'],
  ['a field of a definition', shared, { order: {} }, 'order.amount'],
];

describe('where no tool is known, a mayAnswer', () => {
  test.each(pickCases(undeclared, 3))(
    'that misreads %s lets nobody answer',
    async (_what, schema, input, path) => {
      const { elsewhere, failures } = await requestElsewhere(schema, input);
      const { agent, thread, request } = await elsewhere(letAnswerUnlessLarge(path));
      expect(await agent.rights(thread, by)).toMatchObject([
        { mayApprove: false, mayReject: false, refusal: 'not-approver' },
      ]);
      expect((await agent.requests(by)).requests).toEqual([]);
      expect(await errorCode(agent.respond(request.approve(), thread, by))).toBe('not-allowed');
      const problem = `It reads "${path}", which the input schema of tool 'pay' doesn't have.`;
      const failure = { threadId: 't', setting: 'mayAnswer', kind: 'unknown-field', problem };
      expect(failures.length).toBeGreaterThan(0);
      for (const each of failures) expect(each).toMatchObject(failure);
    },
  );

  test.each(pickCases(declared, 3))('may read %s', async (_what, schema, input, path) => {
    const { elsewhere, failures } = await requestElsewhere(schema, input);
    const { agent, thread, request } = await elsewhere(letAnswerUnlessLarge(path));
    expect(await agent.rights(thread, by)).toMatchObject([{ mayApprove: true }]);
    expect((await agent.requests(by)).requests).toHaveLength(1);
    expect(await errorCode(agent.respond(request.approve(), thread, by))).toBe('no error');
    expect(failures).toEqual([]);
  });

  test('that misreads only an edited input lets nobody edit so', async () => {
    const { elsewhere } = await requestElsewhere(bill, { euros: 50 }, { editable: true });
    const { agent, thread, request } = await elsewhere(({ request: asked }) => {
      if (asked.type !== 'approval-request') return true;
      const input = Object(asked.toolCall?.input);
      return Reflect.get(input, 'euros') <= 50 || !(Reflect.get(input, 'amount') > 50);
    });
    const edited = request.approve({ input: { euros: 5_000 } });
    expect(await errorCode(agent.respond(edited, thread, by))).toBe('not-allowed');
    expect(await errorCode(agent.respond(request.approve(), thread, by))).toBe('no error');
  });
});

test('the inbox lists no request whose input its mayAnswer misreads, and takes no answer to it', async () => {
  const { store, worker, working } = await requestElsewhere(bill, { euros: 5_000 });
  const inbox = createInboxHandler({
    store,
    mayAnswer: letAnswerUnlessLarge('amount'),
    authorize: async () => by,
  });
  const listed = await inbox(new Request('http://h/inbox/api/requests?list=mine'));
  expect(await listed.json()).toMatchObject({ entries: [] });
  const [request] = working.activeApprovalRequests;
  const { requestId, threadId } = request ?? {};
  const answer = { type: 'approval-response', requestId, approved: true };
  const answered = await inbox(
    new Request('http://h/inbox/api/answers', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ answers: [{ requestId, threadId, digest: request?.digest, answer }] }),
    }),
  );
  expect(await answered.json()).not.toMatchObject({ outcomes: [{ status: 'recorded' }] });
  expect((await worker.run([], working)).status).toBe('waiting');
});

test.each(['buyer', 'manager'])(
  "a sub-agent's request is answered by nobody if the mayAnswer of the %s misreads it",
  async (mistaken) => {
    const office = new AgentOffice();
    const misreads = (name: string) =>
      name === mistaken ? { mayAnswer: letAnswerUnlessLarge('amount') } : {};
    const paying = [{ calls: [payTo('p1', 'ACME')] }, { text: 'Paid.' }];
    const buyer = office.payer('buyer', paying, misreads('buyer'));
    const buy = [{ calls: [askAgent('b1', 'buy', 'Pay.')] }];
    const tools = { buy: office.tool(buyer) };
    const manager = office.agent('manager', buy, { tools, ...misreads('manager') });
    const thread = await manager.thread('m');
    const [request] = (await manager.run('Pay.', thread)).approvalRequests;
    expect((await manager.requests(by)).requests).toEqual([]);
    const answer = request?.approve() ?? [];
    expect(await errorCode(manager.respond(answer, thread, by))).toBe('not-allowed');
  },
);

test('an agent with tools reads what the request says, as the tool was when it was asked', async () => {
  const { store, elsewhere } = await requestElsewhere(bill, { euros: 50 });
  const newer = tool({ inputSchema: bill.extend({ amount: z.number().optional() }) });
  const { request } = await elsewhere(() => true);
  const mayAnswer = letAnswerUnlessLarge('amount');
  const { model } = scriptedModel([]);
  const agent = createAgent({ name: 'office', model, store, tools: { pay: newer }, mayAnswer });
  const thread = await agent.thread('t');
  expect(await errorCode(agent.respond(request.approve(), thread, by))).toBe('not-allowed');
});

const manyFields = (count: number) =>
  Array.from({ length: count }, (_each, index) => [`customerField${index}`, z.string().optional()]);
const inputNames = async (schema: InputSchema) => {
  const { elsewhere } = await requestElsewhere(schema, { euros: 50 });
  const asked: ApprovalRequest = (await elsewhere(() => true)).request;
  return { elsewhere, names: asked.inputNames, shown: hidePrincipals(asked) };
};

const careful: MayAnswer = ({ request }) =>
  request.type === 'question-request' || !('note' in Object(request.toolCall?.input));

describe('the names of a schema', () => {
  test('are kept with a request, and nothing else of the schema is; pages get none', async () => {
    const described = bill.extend({ note: z.enum(['a', 'b']).describe('What for.').nullish() });
    const { names, shown } = await inputNames(described);
    const properties = { euros: false, note: { anyOf: [false, false] } };
    expect(names).toEqual({ properties, additionalProperties: false });
    expect(shown).not.toHaveProperty('inputNames');
  });

  test('of a thousand fields are kept', async () => {
    const { names } = await inputNames(z.looseObject(Object.fromEntries(manyFields(1_000))));
    expect(JSON.stringify(names).length).toBeLessThan(32 * 1024);
  });

  test.each([
    ['of two thousand fields', bill.extend(Object.fromEntries(manyFields(2_000)))],
    ['of parts that are referred to at each depth', chainOfParts(300)],
  ])('%s are not, and what the input lacks can not be read', async (_what, schema) => {
    const { names, elsewhere } = await inputNames(schema);
    expect(names).toBeNull();
    const rightsIf = async (mayAnswer: MayAnswer) => {
      const { agent, thread } = await elsewhere(mayAnswer);
      return agent.rights(thread, by);
    };
    expect(await rightsIf(letAnswerUnlessLarge('euros'))).toMatchObject([{ mayApprove: true }]);
    expect(await rightsIf(letAnswerUnlessLarge('note'))).toMatchObject([{ mayApprove: false }]);
    expect(await rightsIf(careful)).toMatchObject([{ mayApprove: true }]);
  });
});
