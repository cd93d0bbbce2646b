import { tool } from 'ai';
import {
  type Agent,
  type AgentOptions,
  type AgentThread,
  createAgent,
  HoldpointError,
} from 'holdpoint';
import { scriptedModel } from 'holdpoint/testing';
import { afterEach, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { pickCases } from './support/sampling.ts';

const { model } = scriptedModel((messages) =>
  messages.at(-1)?.role === 'tool'
    ? { text: 'Done.' }
    : { calls: [{ id: 'c1', name: 'pay', input: { cents: 700 } }] },
);
const paid: number[] = [];
const pay = tool({
  inputSchema: z.object({ cents: z.number() }),
  execute: async ({ cents }) => paid.push(cents),
});
const base = { model, tools: { pay } };
const type = 'user-approval';

type Made = Agent;

afterEach(() => {
  vi.restoreAllMocks();
  paid.length = 0;
});

/** What an agent does in a thread that asks for a payment. */
async function run(agent: Pick<Made, 'thread' | 'run'>) {
  return agent.run('Pay 7.', await agent.thread());
}

/** What a person does about a payment that asks. */
async function asked(
  terms: object = {},
  options: Partial<Pick<AgentOptions, 'mayAnswer' | 'name'>> = {},
) {
  const agent = createAgent({
    ...base,
    ...options,
    toolApproval: { pay: () => ({ type, ...terms }) },
  });
  const { thread, approvalRequests } = await run(agent);
  const [request] = approvalRequests;
  if (request === undefined) throw new Error('Nothing was asked.');
  return { agent, thread, request };
}

/** The mistake, what is written, and what the developer sees: in an error or in the console. */
type Row = [mistake: string, written: () => unknown, sees: string];

/* A comment on top of a line says that the compiler refuses it too. */
const rows: Row[] = [
  // Options
  [
    'a misspelt option',
    // @ts-expect-error
    () => createAgent({ ...base, toolAproval: {} }),
    "TypeError: createAgent has no setting 'toolAproval'; did you mean 'toolApproval'?",
  ],
  [
    'a misspelt mayAnswer',
    // @ts-expect-error
    () => createAgent({ ...base, mayAnswr: () => true }),
    "did you mean 'mayAnswer'?",
  ],
  [
    'an option of a run',
    // @ts-expect-error
    () => createAgent({ ...base, principal: 'ada' }),
    'pass it to agent.run or agent.stream',
  ],
  [
    'an older name of the AI SDK',
    // @ts-expect-error
    () => createAgent({ ...base, system: 'Be brief.' }),
    "it is called 'instructions' here",
  ],
  [
    'a callback of the AI SDK',
    // @ts-expect-error
    () => createAgent({ ...base, onFinish: () => {} }),
    "it is called 'onEnd' here",
  ],
  [
    'a misspelt timeout',
    // @ts-expect-error
    () => createAgent({ ...base, timeout: { total: 5 } }),
    "did you mean 'totalMs'?",
  ],
  [
    'a misspelt retry',
    // @ts-expect-error
    () => createAgent({ ...base, retry: { maxAttempt: 5 } }),
    "did you mean 'maxAttempts'?",
  ],
  [
    'a recovery for no tool',
    // @ts-expect-error
    () => createAgent({ ...base, toolRecovery: { pya: { idempotent: true } } }),
    'TypeError: toolRecovery',
  ],
  ['no steps', () => createAgent({ ...base, maxSteps: 0 }), 'TypeError: maxSteps'],
  ['a lease of NaN', () => createAgent({ ...base, leaseMs: NaN }), 'TypeError: leaseMs'],
  ['an empty name', () => createAgent({ ...base, name: '' }), 'TypeError: name'],
  // Rules
  [
    'a rule for no tool',
    // @ts-expect-error
    () => createAgent({ ...base, toolApproval: { pya: 'user-approval' } }),
    "TypeError: toolApproval names 'pya', which is not a tool",
  ],
  [
    'one status for all tools',
    // @ts-expect-error
    () => createAgent({ ...base, toolApproval: 'user-approval' }),
    'TypeError: toolApproval must be a function or a plain object',
  ],
  [
    'a misspelt setting of a rule',
    // @ts-expect-error
    () => createAgent({ ...base, toolApproval: { pay: { type, quorom: 2 } } }),
    "TypeError: toolApproval.pay: The approval rule is invalid: it has no setting 'quorom'; did you mean 'quorum'?",
  ],
  [
    'the same in a function',
    // @ts-expect-error
    () => run(createAgent({ ...base, toolApproval: { pay: () => ({ type, quorom: 2 }) } })),
    "toolApproval.pay: The approval rule is invalid: it has no setting 'quorom'; did you mean 'quorum'?",
  ],
  [
    'a quorum in quotes',
    // @ts-expect-error
    () => createAgent({ ...base, toolApproval: { pay: { type, quorum: '2' } } }),
    'TypeError: toolApproval.pay: The approval rule is invalid',
  ],
  [
    'a quorum of nobody',
    () => createAgent({ ...base, toolApproval: { pay: { type, quorum: 0 } } }),
    'TypeError: toolApproval.pay: The approval rule is invalid',
  ],
  [
    'a misspelt risk',
    // @ts-expect-error
    () => createAgent({ ...base, toolApproval: { pay: { type, risk: 'hihg' } } }),
    'TypeError: toolApproval.pay: The approval rule is invalid',
  ],
  [
    'a deadline in the past',
    () => createAgent({ ...base, toolApproval: { pay: { type, expiresAfterMs: -1 } } }),
    'TypeError: toolApproval.pay: The approval rule is invalid',
  ],
  [
    'an escalation to nobody',
    // @ts-expect-error
    () => createAgent({ ...base, toolApproval: { pay: { type, onExpiry: 'escalate' } } }),
    'TypeError: toolApproval.pay: The approval rule is invalid',
  ],
  [
    'an editable field that is none',
    // @ts-expect-error
    () => createAgent({ ...base, toolApproval: { pay: { type, editable: ['cent'] } } }),
    `TypeError: toolApproval.pay: It names "cent", which the input schema of tool 'pay' doesn't have.`,
  ],
  [
    'the same in a function',
    () =>
      // @ts-expect-error
      run(createAgent({ ...base, toolApproval: { pay: () => ({ type, editable: ['cent'] }) } })),
    `toolApproval.pay: It names "cent", which the input schema of tool 'pay' doesn't have.`,
  ],
  [
    'a field to match that is none',
    // @ts-expect-error
    () => createAgent({ ...base, toolApproval: { pay: { type, remember: { match: ['cent'] } } } }),
    `TypeError: toolApproval.pay: It names "cent"`,
  ],
  [
    'a misspelt setting of remember',
    // @ts-expect-error
    () => createAgent({ ...base, toolApproval: { pay: { type, remember: { scop: 'thread' } } } }),
    'TypeError: toolApproval.pay: The approval rule is invalid',
  ],
  [
    'a wide memory of an agent without a name',
    () =>
      createAgent({ ...base, toolApproval: { pay: { type, remember: { scope: 'everyone' } } } }),
    'needs an agent with a name',
  ],
  [
    'a missing mayAnswer',
    () => createAgent({ ...base, toolApproval: { pay: { type, approvers: ['boss'] } } }),
    'TypeError: toolApproval.pay names approvers: give the agent a mayAnswer',
  ],
  [
    'the same for a rule that is a function',
    () =>
      run(createAgent({ ...base, toolApproval: { pay: () => ({ type, approvers: ['boss'] }) } })),
    'the agent has no mayAnswer to say who they are',
  ],
  [
    'a message without a principal, where the requester is excluded',
    () => run(createAgent({ ...base, toolApproval: { pay: { type, notRequester: true } } })),
    'pass the principal with the message',
  ],
  [
    'a misspelt status',
    // @ts-expect-error
    () => run(createAgent({ ...base, toolApproval: { pay: () => 'aproved' } })),
    'toolApproval.pay: The approval rule returned an invalid status.',
  ],
  [
    'a field that the input does not have',
    // @ts-expect-error
    () => run(createAgent({ ...base, toolApproval: { pay: ({ euros }) => small(euros) } })),
    `toolApproval.pay: It reads "euros", which the input schema of tool 'pay' doesn't have.`,
  ],
  [
    'such a field in the question',
    () =>
      // @ts-expect-error
      run(createAgent({ ...base, toolApproval: { pay: { type, text: (it) => `${it.euros}` } } })),
    `toolApproval.pay.text: It reads "euros"`,
  ],
  [
    'a rule that throws',
    () => run(createAgent({ ...base, toolApproval: { pay: () => small(JSON.parse('{')) } })),
    'toolApproval.pay: The approval rule failed.',
  ],
  // Threads
  [
    'a forgotten await before a thread',
    // @ts-expect-error
    async () => createAgent(base).run('Pay 7.', createAgent(base).thread('t')),
    'Pass a thread, from `await agent.thread(id)`; got a promise.',
  ],
  [
    'the id in place of a thread',
    // @ts-expect-error
    async () => createAgent(base).run('Pay 7.', 't'),
    'Pass a thread, from `await agent.thread(id)`; got string.',
  ],
  [
    'a wrong name of the id of a thread',
    // @ts-expect-error
    async () => createAgent(base).thread((await createAgent(base).thread()).threadId),
    'TypeError: agent.thread got the id undefined.',
  ],
  [
    'a thread of another agent',
    async () => createAgent(base).run('Pay 7.', await createAgent(base).thread('t')),
    'This thread was opened by another agent; open it here with agent.thread(id).',
  ],
  [
    'a misspelt option of a run',
    // @ts-expect-error
    async () => runIn(async (agent, thread) => agent.run('Pay 7.', thread, { user: 'ada' })),
    "it is called 'principal' here",
  ],
  [
    'a message to respond',
    async () => runIn(async (agent, thread) => agent.respond('Yes.', thread)),
    'agent.respond takes only answers; pass messages to agent.run.',
  ],
  // Answers
  [
    'an approve that is not called',
    // @ts-expect-error
    async () => asked().then(({ agent, thread, request }) => agent.run(request.approve, thread)),
    'invalid-input',
  ],
  [
    'the request in place of its answer',
    // @ts-expect-error
    async () => asked().then(({ agent, thread, request }) => agent.run(request, thread)),
    'invalid-input',
  ],
  [
    'a yes that is no boolean',
    async () =>
      asked().then(({ agent, thread, request }) =>
        // @ts-expect-error
        agent.run({ ...request.approve(), approved: 'yes' }, thread),
      ),
    'invalid-',
  ],
  [
    'a message instead of an answer',
    async () => asked().then(({ agent, thread }) => agent.run('Yes.', thread)),
    'requests-open',
  ],
  [
    'an edit that the rule does not allow',
    async () =>
      asked().then(({ agent, thread, request }) =>
        agent.run(request.approve({ input: { cents: 1 } }), thread),
      ),
    "its rule doesn't mark it as editable",
  ],
  [
    'an async edit',
    async () =>
      asked({ editable: true }).then(({ request }) => request.approve({ edit: async () => ({}) })),
    'TypeError: Request',
  ],
  [
    'a remember that the rule does not allow',
    async () => asked().then(({ request }) => request.approve({ remember: true })),
    "doesn't allow 'remember': its rule must allow it.",
  ],
  [
    'a mayAnswer that forgets to return',
    async () =>
      // @ts-expect-error
      asked({}, { mayAnswer: () => {} }).then(({ agent, thread, request }) =>
        agent.run(request.approve(), thread),
      ),
    'not-allowed',
  ],
];

function small(cents: number): 'approved' | 'user-approval' {
  return cents < 5 ? 'approved' : 'user-approval';
}

function describe(error: unknown): string {
  const code = HoldpointError.isInstance(error) ? ` ${error.code}` : '';
  return `${String(error)}${code}`;
}

async function runIn(work: (agent: Made, thread: AgentThread) => Promise<unknown>) {
  const agent = createAgent(base);
  return work(agent, await agent.thread());
}

test.each(pickCases(rows, 3))('%s', async (_mistake, written, sees) => {
  const warn = vi.spyOn(console, 'warn').mockReturnValue();
  const thrown = await Promise.resolve()
    .then(written)
    .then(() => '', describe);
  expect(`${thrown}\n${warn.mock.calls.join('\n')}`).toContain(sees);
  expect(paid).toEqual([]);
});

test('the compiler finds what is correct JavaScript', () => {
  const written = vi.fn<() => unknown>(async () => {
    const { agent, thread, request } = await asked();
    return [
      // @ts-expect-error -- a forgotten await
      agent.run('Pay 7.', thread).approvalRequests,
      // @ts-expect-error -- a status that a run never has
      (await agent.run([], thread)).status === 'complete',
      // @ts-expect-error -- an event that never comes
      agent.on('setting-faild', () => {}),
      // @ts-expect-error -- a misspelt option of an answer
      request.approve({ raison: 'Because.' }),
      // @ts-expect-error -- a rule that forgets to return, as it would leave the decision to the tool
      createAgent({ ...base, toolApproval: { pay: () => {} } }),
      // @ts-expect-error -- the same, async
      createAgent({ ...base, toolApproval: { pay: async () => {} } }),
      // @ts-expect-error -- the same for all tools
      createAgent({ ...base, toolApproval: () => {} }),
      // @ts-expect-error -- a misspelt option of the model
      scriptedModel([], { repet: true }),
    ];
  });
  expect(written).not.toHaveBeenCalled();
});

test('there are at least forty of them', () => {
  expect(rows.length).toBeGreaterThanOrEqual(40);
});
