import { jsonSchema, tool, type ToolSet } from 'ai';
import {
  type AgentOptions,
  createAgent,
  memoryStore,
  type SettingFailure,
  type ToolCall,
} from 'holdpoint';
import { createCustomAgent } from 'holdpoint/custom-agent';
import { agentTool } from 'holdpoint/tools';
import { inspect, isDeepStrictEqual } from 'node:util';
import { produce } from 'immer';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { AgentOffice, ask as askAgent, pay as payTo } from '../support/agent-office.ts';
import { errorCode } from '../support/error-code.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { pickCases } from '../support/sampling.ts';

const payment = z.object({
  to: z.string(),
  euros: z.number(),
  note: z.string().optional(),
  lines: z.array(z.object({ item: z.string(), tax: z.number().optional() })),
});
const bill = { to: 'ACME', euros: 420, lines: [{ item: 'Chairs' }] };

type Line = z.infer<typeof payment>['lines'][number];

/** What the author of a rule believes to get. The tool has no `amount`, no `price` and no `total`. */
interface Guess extends Omit<z.infer<typeof payment>, 'lines'> {
  amount: number;
  order: { amount: number };
  lines: (Line & { price: number })[] & { total: number };
}

type Rule = (input: Guess) => unknown;

beforeEach(() => {
  vi.spyOn(console, 'warn').mockReturnValue();
});
afterEach(() => {
  vi.restoreAllMocks();
});

interface OfficeOptions extends Partial<Omit<AgentOptions, 'toolApproval'>> {
  toolApproval?: unknown;
  inputSchema?: z.ZodType | ReturnType<typeof jsonSchema>;
  needsApproval?: unknown;
  input?: unknown;
  onFailure?: (failure: SettingFailure) => void;
}

/** An office in which Ada asks for a payment, and what happened to it. */
async function payingOffice({ input = bill, onFailure = () => {}, ...given }: OfficeOptions) {
  const { inputSchema = payment, needsApproval, toolApproval, ...options } = given;
  const paid: unknown[] = [];
  const execute = async (bills: unknown) => paid.push(bills);
  const pay = Object.assign(tool({ description: 'Pays.', inputSchema, execute }), {
    needsApproval,
  });
  const { model } = scriptedModel([
    { calls: [{ id: 'c1', name: 'pay', input: JSON.parse(JSON.stringify(input)) }] },
    { text: 'Done.' },
  ]);
  const tools: ToolSet = { pay };
  const settings = { model, tools, store: memoryStore(), maxRetries: 0, ...options };
  // @ts-expect-error -- rules that no type check has seen.
  const agent = createAgent({ ...settings, toolApproval });
  const failures: SettingFailure[] = [];
  agent.on('setting-failed', (failure) => failures.push(structuredClone(failure)));
  agent.on('setting-failed', onFailure);
  const thread = await agent.thread('t');
  const { approvalRequests } = await agent.run('Pay ACME.', thread, { principal: 'ada' });
  const [request] = approvalRequests;
  return { agent, thread, request, paid, failures, tools };
}

/* No type check has seen what the app's author believes. */
function guessOf(toolCall: ToolCall | undefined): Guess {
  // @ts-expect-error -- a wrong belief.
  return toolCall?.input;
}

const ofAll = (rule: Rule) => (options: { toolCall: { input: Guess } }) =>
  rule(options.toolCall.input);

function isLarge({ amount }: { amount: number }): boolean {
  return amount > 100;
}

/* Resolving a promise with a value reads its `then`. */
async function later(input: Guess): Promise<Guess> {
  return input;
}

/* As in an AI SDK rule that was written for another tool. */
function asksAbove(input: { amount: number }): 'user-approval' | 'approved' {
  return isLarge(input) ? 'user-approval' : 'approved';
}

/* `amount` is a field of no payment: each of these rules would pay 420 unasked. */
const mistaken: [string, Rule][] = [
  ['approves', ({ amount }) => (amount > 100 ? 'user-approval' : 'approved')],
  ['says nothing', ({ amount }) => (amount > 100 ? 'user-approval' : undefined)],
  ['is not applicable', (input) => (input.amount > 100 ? 'user-approval' : 'not-applicable')],
  ['denies above', async ({ amount }) => (amount > 100 ? 'denied' : 'approved')],
  [
    'reads a field of an item',
    ({ lines }) => (Number(lines[0]?.price) > 9 ? 'denied' : 'approved'),
  ],
  ['loops', ({ lines }) => (lines.some((line) => line.price > 9) ? 'denied' : 'approved')],
  ['reads the list', ({ lines }) => (lines.total > 100 ? 'denied' : 'approved')],
  ['reads late', async (input) => ((await later(input)).amount > 1 ? 'denied' : 'approved')],
];

describe.each([
  ['for the tool', (rule: Rule) => ({ pay: rule })],
  ['for all tools', ofAll],
])('a rule %s that reads a field which the tool does not have', (form, given) => {
  test.each(pickCases(mistaken, 3))('asks, although it %s', async (_what, rule) => {
    const { request, paid, failures } = await payingOffice({ toolApproval: given(rule) });
    expect(paid).toEqual([]);
    expect(request?.reason).toMatch(/amount|price|total/);
    expect(request?.reason).toContain("tool 'pay'");
    const setting = form === 'for the tool' ? 'toolApproval.pay' : 'toolApproval';
    const toolCall = { toolCallId: 'c1', toolName: 'pay', input: bill };
    expect(failures).toMatchObject([{ threadId: 't', setting, kind: 'unknown-field', toolCall }]);
    expect(vi.mocked(console.warn)).toHaveBeenCalledOnce();
    expect(String(vi.mocked(console.warn).mock.calls[0])).toContain(setting);
  });
});

test('a rule that denies after it has read such a field still denies, and is reported', async () => {
  const { thread, failures } = await payingOffice({
    toolApproval: { pay: ({ amount }: Guess) => (amount <= 100 ? 'approved' : 'denied') },
  });
  expect(thread.calls).toMatchObject([{ status: 'denied' }]);
  expect(failures).toMatchObject([{ setting: 'toolApproval.pay', kind: 'unknown-field' }]);
});

test('a rule that reads such a field lets no standing approval decide: it asks each time', async () => {
  const remember = { match: 'any' } as const;
  const { agent, thread, request, paid, failures } = await payingOffice({
    toolApproval: {
      pay: ({ amount }: Guess) =>
        amount > 100 ? 'user-approval' : { type: 'user-approval', remember },
    },
  });
  expect(request).not.toHaveProperty('remember');
  expect(request?.reason).toContain('amount');
  const wish = { scope: 'thread', match: 'any' } as const;
  const answer = request && { ...request.approve(), remember: wish };
  expect(await errorCode(agent.run(answer ?? [], thread, { principal: 'ben' }))).toBe(
    'invalid-answer',
  );
  expect(paid).toEqual([]);
  expect(failures).toMatchObject([{ setting: 'toolApproval.pay', kind: 'unknown-field' }]);
});

test('nor does one that was given before the rule was changed so', async () => {
  let field = 'euros';
  const store = memoryStore();
  const paying = (id: string) => ({ calls: [{ id, name: 'pay', input: bill }] });
  const steps = [paying('c1'), { text: 'Done.' }, paying('c2')];
  const paid: unknown[] = [];
  const pay = tool({ inputSchema: payment, execute: async (input) => paid.push(input) });
  const agent = createAgent({
    model: scriptedModel(steps).model,
    tools: { pay },
    store,
    toolApproval: {
      pay: (input: object) =>
        Number(Reflect.get(input, field)) > 1_000
          ? 'denied'
          : { type: 'user-approval', remember: { match: 'any' } },
    },
  });
  const thread = await agent.thread('t');
  const [request] = (await agent.run('Pay.', thread, { principal: 'ada' })).approvalRequests;
  await agent.run(request?.approve({ remember: true }) ?? [], thread, { principal: 'ben' });
  field = 'amount';
  expect((await agent.run('Again.', thread, { principal: 'ada' })).status).toBe('waiting');
  expect(paid).toEqual([bill]);
});

test("so does the rule of a custom agent, and of an agent that is another's tool", async () => {
  const paid: unknown[] = [];
  const execute = async (bills: unknown) => paid.push(bills);
  const store = memoryStore();
  const buyer = createCustomAgent({
    name: 'buyer',
    store,
    tools: { pay: tool({ inputSchema: payment, execute }) },
    // @ts-expect-error -- a rule that no type check has seen.
    toolApproval: { pay: asksAbove },
    step: ({ toolCalls }) =>
      toolCalls.length === 0
        ? { toolCalls: [{ toolName: 'pay', input: bill }] }
        : { text: 'Paid.' },
  });
  const own = await buyer.run('Pay', await buyer.thread('t'));
  expect(own.approvalRequests).toMatchObject([{ reason: expect.stringContaining('amount') }]);
  const { model } = scriptedModel([
    { calls: [{ id: 'c1', name: 'buy', input: { prompt: 'Pay' } }] },
  ]);
  const buy = agentTool(buyer, { description: 'Pays.' });
  const manager = createAgent({ name: 'manager', model, store, tools: { buy } });
  const { approvalRequests } = await manager.run('Pay', await manager.thread('m'));
  expect(approvalRequests).toMatchObject([{ reason: expect.stringContaining('amount') }]);
  expect(paid).toEqual([]);
});

test("a tool's needsApproval that reads such a field asks", async () => {
  const { request, paid, failures } = await payingOffice({ needsApproval: isLarge });
  expect(request?.reason).toContain('amount');
  expect(paid).toEqual([]);
  expect(failures).toMatchObject([{ setting: 'tools.pay.needsApproval', kind: 'unknown-field' }]);
});

test('a text that reads such a field is replaced by the default text', async () => {
  const pay = { type: 'user-approval', text: ({ amount }: Guess) => `Pay ${amount} EUR?` };
  const { request, failures } = await payingOffice({ toolApproval: { pay } });
  expect(request?.text).toBe('The agent wants to call pay.');
  expect(failures).toMatchObject([{ setting: 'toolApproval.pay.text', kind: 'unknown-field' }]);
});

test('a mayAnswer that reads such a field lets nobody answer', async () => {
  const { agent, thread, request, paid, failures } = await payingOffice({
    toolApproval: { pay: 'user-approval' },
    mayAnswer: ({ principal, request: asked }) =>
      asked.type === 'approval-request' && guessOf(asked.toolCall).amount > 100
        ? principal === 'ada'
        : true,
  });
  const answers = request === undefined ? [] : [request.approve()];
  expect(await errorCode(agent.run(answers, thread, { principal: 'eve' }))).toBe('not-allowed');
  expect(paid).toEqual([]);
  expect(failures).toMatchObject([{ setting: 'mayAnswer', kind: 'unknown-field' }]);
});

test("so does one that reads such a field of a sub-agent's call, at any level", async () => {
  const office = new AgentOffice();
  const payer = () => office.payer('buyer', [{ calls: [payTo('p1', 'ACME')] }, { text: 'Paid.' }]);
  const buy = { calls: [askAgent('b1', 'buy', 'Pay.')] };
  const lead = office.agent('lead', [buy], { tools: { buy: office.tool(payer()) } });
  const failures: SettingFailure[] = [];
  for (const below of [payer(), lead]) {
    const manager = office.agent('manager', [buy], {
      tools: { buy: office.tool(below) },
      mayAnswer: ({ principal, request }) =>
        request.type === 'approval-request' && guessOf(request.toolCall).amount > 100
          ? principal === 'ada'
          : true,
    });
    manager.on('setting-failed', (failure) => failures.push(failure));
    const thread = await manager.thread(`of-${below.name}`);
    const [request] = (await manager.run('Pay.', thread)).approvalRequests;
    const answer = request?.approve() ?? [];
    expect(await errorCode(manager.run(answer, thread, { principal: 'eve' }))).toBe('not-allowed');
  }
  expect(office.payments).toEqual([]);
  const setting = { setting: 'mayAnswer', kind: 'unknown-field' };
  expect(failures).toMatchObject([setting, setting]);
});

test('an approved call whose rule starts to misread its input still runs as it was shown, and is reported', async () => {
  let field = 'euros';
  const { agent, thread, request, paid, failures } = await payingOffice({
    toolApproval: {
      pay: (input: Record<string, number>) =>
        (input[field] ?? NaN) <= 100 ? 'approved' : 'user-approval',
    },
  });
  field = 'amount';
  const answers = request === undefined ? [] : [request.approve()];
  await agent.run(answers, thread, { principal: 'ben' });
  expect(paid).toEqual([bill]);
  expect(failures).toMatchObject([{ kind: 'unknown-field' }]);
});

test('a warning comes once for a setting, and not in production where somebody listens', async () => {
  const toolApproval = { pay: asksAbove };
  const { agent, thread, request } = await payingOffice({ toolApproval });
  await agent.run(request === undefined ? [] : [request.approve()], thread, { principal: 'ben' });
  expect(vi.mocked(console.warn)).toHaveBeenCalledOnce();
  vi.stubEnv('NODE_ENV', 'production');
  await payingOffice({ toolApproval });
  vi.unstubAllEnvs();
  expect(vi.mocked(console.warn)).toHaveBeenCalledOnce();
});

test('without a listener the warning comes in production too, without what the rule threw', async () => {
  vi.stubEnv('NODE_ENV', 'production');
  const { model } = scriptedModel([
    { calls: [{ id: 'c1', name: 'pay', input: bill }] },
    { text: 'Done.' },
  ]);
  const pay = tool({ inputSchema: payment, execute: async () => 'Paid.' });
  const toolApproval = {
    pay: () => {
      throw new Error('a secret');
    },
  };
  const agent = createAgent({ model, tools: { pay }, toolApproval });
  await agent.run('Pay ACME.', await agent.thread('t'));
  vi.unstubAllEnvs();
  expect(vi.mocked(console.warn).mock.calls).toEqual([
    ['holdpoint: toolApproval.pay: The approval rule failed.'],
  ]);
});

test('an approved call whose rule has become invalid fails instead of running', async () => {
  let quorum = 1;
  const { agent, thread, request, paid } = await payingOffice({
    toolApproval: { pay: () => ({ type: 'user-approval', quorum }) },
  });
  quorum = 0;
  await agent.run(request === undefined ? [] : [request.approve()], thread, { principal: 'ben' });
  expect(paid).toEqual([]);
  const error = expect.stringContaining('Not run. The approval rule is invalid');
  expect(thread.calls).toMatchObject([{ outcome: { status: 'failed', error } }]);
});

test('the error of an invalid rule names the nearest setting', async () => {
  const { thread, failures } = await payingOffice({
    toolApproval: { pay: () => ({ type: 'user-approval', quorom: 2 }) },
  });
  const problem = `The approval rule is invalid: it has no setting 'quorom'; did you mean 'quorum'?`;
  expect(thread.calls).toMatchObject([{ outcome: { error: `Not run. ${problem}` } }]);
  expect(failures).toMatchObject([{ kind: 'invalid', problem }]);
});

describe('a rule that lets people edit or remember by a field which the tool does not have', () => {
  const demands: [string, object][] = [
    ['edit', { editable: ['euros', 'amount'] }],
    ['remember', { remember: { match: ['amount'] } }],
  ];
  const problem = `It names "amount", which the input schema of tool 'pay' doesn't have.`;

  test.each(pickCases(demands, 3))(
    'is refused when the agent is made (%s)',
    async (_what, demand) => {
      const toolApproval = { pay: { type: 'user-approval', ...demand } };
      await expect(payingOffice({ toolApproval })).rejects.toThrow(
        new TypeError(`toolApproval.pay: ${problem}`),
      );
    },
  );

  test.each(pickCases(demands, 3))(
    'is reported if it is a function (%s), and asks',
    async (_what, demand) => {
      const { request, paid, failures } = await payingOffice({
        toolApproval: { pay: () => ({ type: 'user-approval', ...demand }) },
      });
      expect(request).toMatchObject(demand);
      expect(paid).toEqual([]);
      expect(failures).toMatchObject([
        { setting: 'toolApproval.pay', kind: 'unknown-field', problem },
      ]);
    },
  );

  test.each([
    ['takes others', z.looseObject({ euros: z.number() })],
    ['is read later', jsonSchema(async () => ({ type: 'object', properties: { euros: {} } }))],
  ])('is not refused if the schema %s', async (_what, inputSchema) => {
    const toolApproval = { pay: { type: 'user-approval', editable: ['amount'] } };
    const { request } = await payingOffice({ inputSchema, toolApproval });
    expect(request?.editable).toEqual(['amount']);
  });
});

const small = (input: { euros: number }) => (input.euros <= 500 ? 'approved' : 'user-approval');

describe('a rule is not mistaken that', () => {
  const sound: [string, Rule][] = [
    ['reads a field which this input lacks', ({ note }) => (note === 'x' ? 'denied' : 'approved')],
    [
      'reads such a field of an item',
      ({ lines }) => (Number(lines[0]?.tax) > 1 ? 'denied' : 'approved'),
    ],
    ['asks whether a field is there', (input) => ('amount' in input ? 'denied' : 'approved')],
    ['awaits the input', async (input) => small(await later(input))],
    ['copies it by spreading', (input) => small({ ...input })],
    ['copies it by structuredClone', (input) => small(structuredClone(input))],
    ['copies it so and waits', async (input) => small(structuredClone(await later(input)))],
    ['copies it as JSON', (input) => small(JSON.parse(JSON.stringify(input)))],
    ['parses it', (input) => small(payment.parse(input))],
    ['parses it strictly', (input) => small(z.strictObject(payment.shape).parse(input))],
    [
      'compares it whole',
      (input) => (isDeepStrictEqual(input, bill) ? 'approved' : 'user-approval'),
    ],
    ['edits a draft of it', (input) => small(produce(input, (draft) => void draft.lines.pop()))],
    [
      'goes through its lists',
      ({ lines }) => {
        const [first, second] = lines;
        const isList = Array.isArray(lines) && lines[5] === undefined;
        const items = [
          ...lines,
          ...lines.map((line) => line.item),
          JSON.stringify(lines),
          lines.at(-1),
        ];
        return isList && first && !second && items.length === 4 ? 'approved' : 'denied';
      },
    ],
    ['lists its fields', (input) => (Object.keys(input).length === 3 ? 'approved' : 'denied')],
    ['prints it', (input) => (inspect(input).includes('ACME') ? 'approved' : 'denied')],
  ];

  test.each(pickCases(sound, 3))('%s', async (_what, rule) => {
    const { paid, failures } = await payingOffice({ toolApproval: { pay: rule } });
    expect(failures).toEqual([]);
    expect(paid).toEqual([bill]);
  });
});

/* The rule reads `amount`, at the top or in `order`. */
const object = (more: object) => ({ type: 'object' as const, ...more });
const listed = object({ properties: { euros: { type: 'number' } } });
const schemas: [string, object, isMistaken: boolean][] = [
  ['lists other fields', listed, true],
  ['lists other fields and no more', { ...listed, additionalProperties: false }, true],
  ['takes no fields', object({ additionalProperties: false }), true],
  ['lists other fields in a part', { allOf: [listed, object({})] }, true],
  ['refers to such a part', { $ref: '#/$defs/bill', $defs: { bill: listed } }, true],
  ['has two forms without it', { anyOf: [listed, object({ properties: { to: {} } })] }, true],
  ['may be null', { anyOf: [listed, { type: 'null' }] }, true],
  ['contains itself', { ...listed, allOf: [{ $ref: '#' }, { $ref: '#' }] }, true],
  ['lists the field', object({ properties: { amount: {} } }), false],
  [
    'lists the field in one of its forms',
    { oneOf: [listed, object({ properties: { amount: {} } })] },
    false,
  ],
  ['lists the field in a condition', { ...listed, else: { properties: { amount: {} } } }, false],
  ['takes other fields', { ...listed, additionalProperties: true }, false],
  ['takes other numbers', { ...listed, additionalProperties: { type: 'number' } }, false],
  ['takes fields by their names', { ...listed, patternProperties: { '^a': {} } }, false],
  ['lists nothing', object({}), false],
  ['lists nothing yet', object({ properties: {} }), false],
  ['has a form that takes anything', { anyOf: [listed, object({})] }, false],
  ['refers elsewhere', { ...listed, $ref: 'https://schemas.example/bill' }, false],
  ['refers to nothing', { ...listed, $ref: '#/$defs/bill' }, false],
  ['says nothing', {}, false],
];

/* The rule is what is tested: its calls may not fit their schemas. */
const takesAnything = { validate: (value: unknown) => ({ success: true as const, value }) };

describe('a JSON Schema', () => {
  test.each(pickCases(schemas, 3))('that %s', async (_what, schema, isMistaken) => {
    const inputSchema = jsonSchema(schema, takesAnything);
    const office = await payingOffice({
      inputSchema,
      input: { euros: 1 },
      toolApproval: { pay: asksAbove },
    });
    expect(office.request !== undefined).toBe(isMistaken);
    expect(office.paid.length).toBe(isMistaken ? 0 : 1);
  });

  test.each(pickCases(schemas, 3))(
    'that %s, for a part of the input',
    async (_what, schema, isMistaken) => {
      const { $defs, ...order } = { $defs: {}, ...schema };
      const office = await payingOffice({
        inputSchema: jsonSchema({ ...object({ properties: { order } }), $defs }, takesAnything),
        input: { order: { euros: 1 } },
        toolApproval: { pay: (guess: Guess) => asksAbove(guess.order) },
      });
      expect(office.request !== undefined).toBe(isMistaken);
    },
  );
});

describe('a rule at fault is reported', () => {
  const broken = new Error('the database is away');
  const faults: [string, OfficeOptions, Partial<SettingFailure>][] = [
    [
      'that throws',
      {
        toolApproval: {
          pay: () => {
            throw broken;
          },
        },
      },
      { setting: 'toolApproval.pay', kind: 'error', error: broken },
    ],
    [
      'that rejects',
      { toolApproval: async () => Promise.reject(broken) },
      { setting: 'toolApproval', kind: 'error', error: broken },
    ],
    [
      'that returns an unknown status',
      { toolApproval: { pay: () => 'aproved' } },
      { setting: 'toolApproval.pay', kind: 'invalid' },
    ],
    [
      'that returns an invalid object',
      { toolApproval: { pay: () => ({ type: 'user-approval', quorum: 0 }) } },
      { setting: 'toolApproval.pay', kind: 'invalid', problem: expect.stringContaining('quorum') },
    ],
    [
      'that is a needsApproval which throws',
      { needsApproval: async () => Promise.reject(broken) },
      { setting: 'tools.pay.needsApproval', kind: 'error', error: broken },
    ],
    [
      'that is a needsApproval which says nothing',
      { needsApproval: () => undefined },
      { setting: 'tools.pay.needsApproval', kind: 'invalid' },
    ],
    [
      'whose text throws',
      {
        toolApproval: {
          pay: {
            type: 'user-approval',
            text: () => {
              throw broken;
            },
          },
        },
      },
      { setting: 'toolApproval.pay.text', kind: 'error', error: broken },
    ],
    [
      'whose text is none',
      { toolApproval: { pay: { type: 'user-approval', text: () => 7 } } },
      { setting: 'toolApproval.pay.text', kind: 'invalid' },
    ],
  ];

  test.each(pickCases(faults, 3))('%s', async (_what, options, failure) => {
    const { paid, failures } = await payingOffice(options);
    expect(paid).toEqual([]);
    expect(failures).toMatchObject([{ threadId: 't', toolCall: { toolCallId: 'c1' }, ...failure }]);
    const [warning, ...more] = vi.mocked(console.warn).mock.calls[0] ?? [];
    expect(warning).toContain(failure.setting);
    expect(more).toEqual(failure.error === undefined ? [] : [broken]);
  });

  test('to listeners, which may change what they receive', async () => {
    const { agent, thread, request, paid } = await payingOffice({
      toolApproval: { pay: asksAbove },
      onFailure: ({ toolCall }) => {
        Object.assign(Object(toolCall?.input), { euros: 9 });
        throw broken;
      },
    });
    expect(request?.toolCall?.input).toEqual(bill);
    await agent.run(request === undefined ? [] : [request.approve()], thread, { principal: 'ben' });
    expect(paid).toEqual([bill]);
  });
});
