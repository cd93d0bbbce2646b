import { tool, type ToolSet } from 'ai';
import { createAgent, memoryStore, type SettingFailure } from 'holdpoint';
import { userChoice } from 'holdpoint/tools';
import { inspect } from 'node:util';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { scriptedModel } from '../support/scripted-model.ts';
import { pickCases } from '../support/sampling.ts';

const bill = { to: 'ACME', euros: 5_000 };
const payment = z.object({ to: z.string(), euros: z.number() });
const ask = userChoice();

beforeEach(() => {
  vi.spyOn(console, 'warn').mockReturnValue();
});
afterEach(() => {
  vi.restoreAllMocks();
});

interface OfficeOptions {
  bills?: readonly object[];
  toolApproval?: unknown;
  needsApproval?: unknown;
}

/** An office that is to pay a bill, under rules that no type check has seen. */
async function payingOffice({ toolApproval, needsApproval, bills = [bill] }: OfficeOptions) {
  const paid: unknown[] = [];
  const execute = async (input: unknown) => paid.push(input);
  const pay = tool({ description: 'Pays.', inputSchema: payment, execute });
  const tools: ToolSet = { pay: Object.assign(pay, { needsApproval }) };
  const { model } = scriptedModel([
    { calls: bills.map((input, index) => ({ id: `c${index + 1}`, name: 'pay', input })) },
    { text: 'Done.' },
  ]);
  const settings = { model, tools, store: memoryStore(), maxRetries: 0 };
  // @ts-expect-error -- rules that no type check has seen.
  const agent = createAgent({ ...settings, toolApproval });
  const failures: SettingFailure[] = [];
  agent.on('setting-failed', (failure) => failures.push(structuredClone(failure)));
  const thread = await agent.thread('t');
  const options = { principal: 'ada', runtimeContext: {} };
  const { approvalRequests } = await agent.run('Pay ACME.', thread, options);
  const [request] = approvalRequests;
  return { agent, thread, request, paid, failures };
}

interface GuessedCall {
  input: typeof bill;
  args?: typeof bill;
  name?: string;
  [other: string | symbol]: unknown;
}

/** What the author of a rule believes to get. */
interface Guess {
  toolCall: GuessedCall;
  input?: typeof bill;
  euros: number;
  requestors?: readonly unknown[];
  calls: readonly GuessedCall[];
  runtimeContext: Record<string, unknown>;
  toolsContext: Record<string, unknown>;
  tools: ToolSet;
  [other: string | symbol]: unknown;
}

const ofAll: [string, (options: Guess) => unknown, string][] = [
  [
    'args of the call',
    ({ toolCall }) => (Number(toolCall.args?.euros) > 100 ? 'user-approval' : 'approved'),
    `It reads "args" of toolCall, which it doesn't get; did you mean 'input'?`,
  ],
  [
    'the name of the call',
    ({ toolCall }) => (toolCall.name === 'pay' ? 'user-approval' : 'approved'),
    `It reads "name" of toolCall, which it doesn't get; did you mean 'toolName'?`,
  ],
  [
    'the input beside the call',
    ({ input }) => (Number(input?.euros) > 100 ? 'user-approval' : 'approved'),
    `It reads "input" of its options, which it doesn't get; did you mean 'toolCall.input'?`,
  ],
  [
    'fields of the input, as a rule for one tool does',
    (input) => (input.euros > 100 ? 'user-approval' : 'approved'),
    `It reads "euros" of its options, which it doesn't get.`,
  ],
  [
    'a misspelt name, late',
    async (options) => {
      await Promise.resolve(options);
      return options.requestors?.length === 0 ? 'user-approval' : 'approved';
    },
    `It reads "requestors" of its options, which it doesn't get; did you mean 'requesters'?`,
  ],
  [
    'a person',
    ({ principal }) => (principal === 'eve' ? 'denied' : undefined),
    `It reads "principal" of its options, which it doesn't get; did you mean 'requesters'?`,
  ],
];

const ofTool: [string, (input: typeof bill, options: Guess) => unknown, string][] = [
  [
    'a person',
    (_input, { user }) => (user === 'eve' ? 'denied' : 'approved'),
    `It reads "user" of its options, which it doesn't get; did you mean 'requesters'?`,
  ],
];

describe('a rule for all tools that reads a name which it does not get', () => {
  test.each(pickCases(ofAll, 3))('asks, although it reads %s', async (_what, rule, problem) => {
    const { request, paid, failures } = await payingOffice({ toolApproval: rule });
    expect(paid).toEqual([]);
    expect(request?.reason).toBe(`The approval rule may be mistaken: ${problem}`);
    const toolCall = { toolCallId: 'c1', toolName: 'pay', input: bill };
    const failure = { setting: 'toolApproval', kind: 'unknown-field', problem, toolCall };
    expect(failures).toMatchObject([failure]);
  });
});

describe('a rule for one tool that reads a name which it does not get', () => {
  test.each(pickCases(ofTool, 3))('asks, although it reads %s', async (_what, rule, problem) => {
    for (const setting of ['toolApproval.pay', 'tools.pay.needsApproval']) {
      const isMark = setting.startsWith('tools');
      const mark = (...given: [typeof bill, Guess]): boolean => rule(...given) !== 'approved';
      const { request, paid, failures } = await payingOffice(
        isMark ? { needsApproval: mark } : { toolApproval: { pay: rule } },
      );
      expect(paid).toEqual([]);
      expect(request?.reason).toContain(problem);
      expect(failures).toMatchObject([{ setting, kind: 'unknown-field', problem }]);
    }
  });
});

test.each([
  [
    'args',
    'input',
    (calls: readonly GuessedCall[]) =>
      calls.every(({ args }: GuessedCall) => !(Number(args?.euros) > 100)),
  ],
  [
    'result',
    'outcome',
    (calls: readonly GuessedCall[]) => !calls.some(({ result }: GuessedCall) => result === 'paid'),
  ],
])('a budget that reads %s of earlier calls, which have none, asks', async (name, known, isLow) => {
  const rule = ({ calls }: Guess) => (isLow(calls) ? 'approved' : 'user-approval');
  const { request, paid, failures } = await payingOffice({
    toolApproval: rule,
    bills: [bill, bill],
  });
  expect(paid).toEqual([bill]);
  const problem = `It reads "${name}" of calls, which it doesn't get; did you mean '${known}'?`;
  expect(request).toMatchObject({ toolCall: { toolCallId: 'c2' } });
  expect(request?.reason).toContain(problem);
  expect(failures).toMatchObject([{ kind: 'unknown-field', problem }]);
});

test('a rule that reads such a name and denies still denies; one that asks lets no standing approval decide', async () => {
  const denied = await payingOffice({ toolApproval: ({ user }: Guess) => user ?? 'denied' });
  expect(denied.thread.calls).toMatchObject([{ status: 'denied' }]);
  expect(denied.failures).toHaveLength(1);
  const asked = await payingOffice({
    toolApproval: ({ user }: Guess) =>
      user ?? { type: 'user-approval', remember: { match: 'any' } },
  });
  expect(asked.request).not.toHaveProperty('remember');
  expect(asked.failures).toHaveLength(1);
});

/* All names that the AI SDK's types have, whether it sets them or not. */
const known: [string, (options: Guess) => unknown][] = [
  ['reads all names of the AI SDK', readAll],
  [
    'returns its options from a function that is awaited',
    async (options) => (await later(options)).tools,
  ],
  ['prints them', (options) => inspect(options) + JSON.stringify(options.toolCall)],
  ['makes JSON of them', ({ tools: _tools, ...options }) => JSON.stringify(options)],
  ['spreads them', (options) => ({ ...options, ...options.toolCall })],
  [
    'takes the rest',
    ({ toolCall: { input: _input, ...call }, ...rest }) => call.args ?? rest.input,
  ],
  ['looks whether a name is there', (options) => 'input' in options || 'args' in options.toolCall],
  ['lists its names', (options) => [...Object.keys(options), ...Object.entries(options.toolCall)]],
  ['looks for an own name', (options) => Object.hasOwn(options, 'input')],
  ['reads symbols', (options) => [options[Symbol.iterator], options.toolCall[Symbol.toStringTag]]],
  ['asks for its class', ({ toolCall }) => [toolCall.constructor]],
  ['clones the call', ({ toolCall }) => structuredClone(toolCall)],
  ['clones the calls', ({ calls }) => structuredClone(calls)],
  [
    'reads all names of calls',
    ({ calls }) =>
      calls.map((call: GuessedCall) => ({ ...call, o: call['outcome'], g: call['grantId'] })),
  ],
  [
    'reads what the app has passed',
    ({ runtimeContext, toolsContext, tools }) => [
      runtimeContext['x'],
      toolsContext['y'],
      tools['z'],
    ],
  ],
];

async function later<GIVEN>(given: GIVEN): Promise<GIVEN> {
  return given;
}

function readAll(options: Guess): unknown {
  const { toolCall, tools, toolsContext, runtimeContext, messages, requesters, calls } = options;
  const { type, toolCallId, toolName, input, dynamic, invalid, error, title } = toolCall;
  const { providerExecuted, providerMetadata, toolMetadata } = toolCall;
  const ofCall = [type, toolCallId, toolName, input, dynamic, invalid, error, title];
  const ofProvider = [providerExecuted, providerMetadata, toolMetadata];
  return [tools, toolsContext, runtimeContext, messages, requesters, calls, ofCall, ofProvider];
}

describe('a rule for all tools is not mistaken if it', () => {
  test.each(pickCases(known, 3))('%s', async (_what, read) => {
    const rule = async (options: Guess) => {
      await read(options);
      return 'approved';
    };
    const { paid, failures } = await payingOffice({ toolApproval: rule });
    expect(failures).toEqual([]);
    expect(paid).toEqual([bill]);
  });
});

function readOptions(_input: unknown, options: Guess): 'approved' | 'denied' {
  const { toolCallId, messages, toolContext, context, runtimeContext } = options;
  const { abortSignal, experimental_sandbox, requesters, calls } = options;
  const read = [toolCallId, messages, toolContext, context, runtimeContext, abortSignal];
  const others = [experimental_sandbox, requesters, calls, structuredClone({ ...options })];
  return read.length + others.length > 0 ? 'approved' : 'denied';
}

test('a rule for one tool is not mistaken if it reads all names of the AI SDK, or clones its options', async () => {
  const { paid, failures } = await payingOffice({ toolApproval: { pay: readOptions } });
  expect(failures).toEqual([]);
  expect(paid).toEqual([bill]);
});

interface GuessedRequest extends Record<string | symbol, unknown> {
  toolCall?: GuessedCall;
}

/** What the author of a `mayAnswer` believes to get. */
interface GuessedAnswer extends Record<string | symbol, unknown> {
  request: GuessedRequest;
  response: Record<string, unknown>;
}

type GuessedMayAnswer = (asked: GuessedAnswer) => unknown;

/** A payment that somebody is asked about, and a question, under a `mayAnswer` that no type check has seen. */
async function askingOffice(mayAnswer: GuessedMayAnswer) {
  const { model } = scriptedModel([
    {
      calls: [
        { id: 'c1', name: 'pay', input: bill },
        { id: 'c2', name: 'ask', input: { question: 'Which one?', options: ['A', 'B'] } },
      ],
    },
    { text: 'Done.' },
  ]);
  const tools = { pay: tool({ inputSchema: payment, execute: async () => 'Paid.' }), ask };
  const settings = { model, tools, store: memoryStore(), maxRetries: 0 };
  // @ts-expect-error -- a mayAnswer that no type check has seen.
  const agent = createAgent({ ...settings, toolApproval: { pay: 'user-approval' }, mayAnswer });
  const failures: SettingFailure[] = [];
  agent.on('setting-failed', (failure) => failures.push(structuredClone(failure)));
  const thread = await agent.thread('t');
  await agent.run('Pay ACME.', thread, { principal: 'ada' });
  return { agent, thread, failures };
}

const limit = 100;
const misreadAnswers: [string, GuessedMayAnswer, string][] = [
  [
    'the person, by another name',
    ({ user }) => user !== 'eve',
    `It reads "user" of its parameter, which it doesn't get; did you mean 'principal'?`,
  ],
  [
    'the input beside the request',
    ({ input }) => !(Number(Object(input)['euros']) > limit),
    `It reads "input" of its parameter, which it doesn't get; did you mean 'request.toolCall.input'?`,
  ],
  [
    'the input of the request',
    ({ request }) => !(Number(Object(request['input'])['euros']) > limit),
    `It reads "input" of request, which it doesn't get; did you mean 'request.toolCall.input'?`,
  ],
  [
    'args of the call',
    ({ request }) => !(Number(request.toolCall?.args?.euros) > limit),
    `It reads "args" of request.toolCall, which it doesn't get; did you mean 'input'?`,
  ],
  [
    'a misspelt answer, late',
    async ({ response }) => (await later(response))['aproved'] !== true,
    `It reads "aproved" of response, which it doesn't get; did you mean 'approved'?`,
  ],
];

describe('a mayAnswer that reads a name which it does not get', () => {
  test.each(pickCases(misreadAnswers, 3))(
    'lets nobody approve, although it reads %s',
    async (_what, mayAnswer, problem) => {
      const { agent, thread, failures } = await askingOffice(mayAnswer);
      const [request] = thread.activeApprovalRequests;
      const answering = agent.respond(request?.approve() ?? [], thread, { principal: 'eve' });
      await expect(answering).rejects.toMatchObject({ code: 'not-allowed' });
      const failure = { threadId: 't', setting: 'mayAnswer', kind: 'unknown-field', problem };
      expect(failures).toContainEqual(expect.objectContaining(failure));
    },
  );

  test('lets nobody answer a question either', async () => {
    const { agent, thread, failures } = await askingOffice(({ user }) => user !== 'eve');
    const question = thread.activeRequests.find(({ type }) => type === 'question-request');
    const answer = question?.type === 'question-request' ? question.dismiss() : [];
    const answering = agent.respond(answer, thread, { principal: 'eve' });
    await expect(answering).rejects.toMatchObject({ code: 'not-allowed' });
    expect(failures).toMatchObject([{ setting: 'mayAnswer', kind: 'unknown-field' }]);
  });
});

/* A request has fields that only some have, and so does an answer. */
const knownAnswers: [string, GuessedMayAnswer][] = [
  [
    'reads the names that only some requests have',
    ({ principal, channel, request, response }) => [
      [principal, channel, request['approvers'], request['risk'], request['fields']],
      [request['edit'], request.toolCall?.['toolCallId'], request['votes'], request['path']],
      [response['approved'], response['input'], response['answers'], response['status']],
    ],
  ],
  ['clones it', (asked) => structuredClone({ ...asked, request: { ...asked.request } })],
  ['prints it', (asked) => inspect(asked) + JSON.stringify(asked)],
  ['is async', async (asked) => later(asked)],
  ['looks whether a name is there', (asked) => 'user' in asked || 'amount' in asked.request],
];

test.each(pickCases(knownAnswers, 3))(
  'a mayAnswer is not mistaken if it %s',
  async (_what, read) => {
    const { agent, thread, failures } = await askingOffice(async (asked) => {
      await read(asked);
      return true;
    });
    const [request] = thread.activeApprovalRequests;
    await agent.respond(request?.approve() ?? [], thread, { principal: 'eve' });
    expect(thread.activeApprovalRequests).toEqual([]);
    expect(failures).toEqual([]);
  },
);
