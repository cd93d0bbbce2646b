import {
  httpPolicyClient,
  opaCapabilityMiddleware,
  opaPolicy,
  optionalOpaPolicy,
  type PolicyClient,
  type PolicyDecisionEvent,
  shadow,
  wrapMcpTools,
} from '@ai-sdk/policy-opa';
import { wrapLanguageModel } from 'ai';
import { type Agent, type AgentOptions, createAgent } from 'holdpoint';
import { expect, test } from 'vitest';
import { scriptedModel } from '../support/scripted-model.ts';
import { book, memoryWorld, travelTools } from '../support/travel-world.ts';
import { FileServer } from './mcp-server.ts';

const path = 'agent/call/decision';

/** A policy engine that gives this result. `PolicyClient` is where `@ai-sdk/policy-opa` lets other engines in. */
function engine(decide: (input: unknown) => unknown): PolicyClient {
  return {
    async evaluate(asked, input) {
      expect(asked).toBe(path);
      return JSON.parse(JSON.stringify((await decide(input)) ?? null));
    },
  };
}

const policy = (decide: (input: unknown) => unknown) => opaPolicy({ client: engine(decide), path });

const broken = (): never => {
  throw new Error('the engine is down');
};

async function run(
  toolApproval: AgentOptions['toolApproval'],
  options: Partial<AgentOptions> = {},
) {
  const world = memoryWorld([{ calls: [book('c1', 'Paris')] }, { text: 'Done.' }]);
  const agent = world.agent({ toolApproval, ...options });
  const runtimeContext = { role: 'clerk' };
  const response = await agent.run('Book', await agent.thread('t'), { runtimeContext });
  return { ...world, agent, response, request: response.approvalRequests[0] };
}

test('allow runs the call', async () => {
  const { ran, response } = await run(policy(() => ({ decision: 'allow', reason: 'small' })));
  expect(response.status).toBe('completed');
  expect(ran).toHaveLength(1);
});

test('deny runs nothing, and the model reads the reason', async () => {
  const { ran, response } = await run(
    policy(() => ({ decision: 'deny', reason: 'not from here' })),
  );
  expect(ran).toEqual([]);
  expect(response.thread.calls).toMatchObject([{ status: 'denied' }]);
  expect(JSON.stringify(response.thread.messages)).toContain('not from here');
});

test('requires-approval asks a person, with the reason, and the approved call runs', async () => {
  const { ran, response, request, agent } = await run(
    policy(() => ({ decision: 'requires-approval', reason: 'above the limit' })),
  );
  expect(ran).toEqual([]);
  expect(request).toMatchObject({
    reason: 'above the limit',
    toolCall: { input: { city: 'Paris' } },
  });
  const answers = response.approvalRequests.map((each) => each.approve());
  expect((await agent.run(answers, response.thread)).status).toBe('completed');
  expect(ran).toHaveLength(1);
});

test('the engine gets the tool, the input, the messages and the context', async () => {
  const seen: unknown[] = [];
  await run(policy((input) => void seen.push(input)));
  expect(seen).toMatchObject([
    {
      tool: { name: 'book' },
      args: { city: 'Paris' },
      messages: [{ role: 'user', content: 'Book' }],
      runtimeContext: { role: 'clerk' },
    },
  ]);
});

test('no matching rule leaves it to needsApproval', async () => {
  expect((await run(policy(() => undefined))).ran).toHaveLength(1);
  const tools = travelTools([]);
  const marked = { ...tools, book: Object.assign(tools.book, { needsApproval: true }) };
  const { response } = await run(
    policy(() => undefined),
    { tools: marked },
  );
  expect(response.status).toBe('waiting');
});

test.each<[string, AgentOptions['toolApproval'], string]>([
  ['an engine that fails', policy(broken), 'denied'],
  ['an unknown decision', policy(() => ({ decision: 'alow' })), 'denied'],
  ['a decision that is no object', policy(() => true), 'denied'],
  ['a truthy allow', policy(() => ({ allow: 'yes' })), 'denied'],
  [
    'an engine whose package is missing',
    opaPolicy({ client: httpPolicyClient({ url: 'http://opa.example' }), path }),
    'denied',
  ],
  [
    'an input that can not be made',
    opaPolicy({ client: engine(() => ({ allow: true })), path, toInput: broken }),
    'waiting',
  ],
  [
    'the same, observed and enforced',
    shadow(opaPolicy({ client: engine(() => ({ allow: true })), path, toInput: broken }), {
      enforce: true,
    }),
    'waiting',
  ],
])('fails closed: %s', async (_what, rule, expected) => {
  const { ran, response } = await run(rule);
  expect(ran).toEqual([]);
  expect(response.thread.calls).toMatchObject([{ status: expected }]);
});

test('a policy that denies an approved call just before it starts wins', async () => {
  let decision = 'requires-approval';
  const { ran, response, agent } = await run(policy(() => ({ decision })));
  decision = 'deny';
  const answers = response.approvalRequests.map((each) => each.approve());
  const { thread } = await agent.run(answers, response.thread);
  expect(ran).toEqual([]);
  expect(thread.calls).toMatchObject([{ status: 'denied' }]);
});

test.each([
  [false, 'succeeded'],
  [true, 'denied'],
])('shadow with enforce: %s', async (enforce, expected) => {
  const events: PolicyDecisionEvent[] = [];
  const rule = shadow(
    policy(() => ({ decision: 'deny', reason: 'never' })),
    {
      enforce,
      onDecision: (event) => void events.push(event),
    },
  );
  const { response } = await run(rule);
  expect(response.thread.calls).toMatchObject([{ status: expected }]);
  expect(events).toMatchObject([
    {
      toolCall: { toolName: 'book', toolCallId: 'c1', input: { city: 'Paris' } },
      decision: { type: 'denied', reason: 'never' },
      enforced: enforce,
    },
  ]);
});

test('shadow around a map of rules, as one rule', async () => {
  const rule = shadow({ book: 'user-approval' }, { enforce: true });
  expect((await run(rule)).response.status).toBe('waiting');
});

test.each([
  [undefined, 'waiting'],
  ['user-approval', 'waiting'],
  ['denied', 'denied'],
  ['approved', 'succeeded'],
] as const)(
  'wrapMcpTools with default %s: what the policy does not name',
  async (fallback, expected) => {
    const server = new FileServer({ book: undefined });
    const opts = fallback === undefined ? {} : { default: fallback };
    const wrapped = wrapMcpTools(
      await server.tools({ clientName: 'files' }),
      policy(() => null),
      opts,
    );
    const calls = [{ id: 'c1', name: 'book', input: { path: 'a.txt' } }];
    const { model } = scriptedModel([{ calls }, { text: 'Done.' }]);
    const { response } = await run(wrapped.toolApproval, { tools: wrapped.tools, model });
    expect(response.thread.calls).toMatchObject([{ status: expected }]);
  },
);

const silent = { client: engine(() => null), path };
test.each<[string, (model: AgentOptions['model']) => Agent]>([
  [
    'a map',
    (model) => createAgent({ model, ...wrapMcpTools(travelTools([]), { look: 'approved' }) }),
  ],
  [
    'a policy',
    (model) => createAgent({ model, ...wrapMcpTools(travelTools([]), opaPolicy(silent)) }),
  ],
  [
    'a shadow',
    (model) =>
      createAgent({
        model,
        ...wrapMcpTools(travelTools([]), shadow(opaPolicy(silent), { enforce: true })),
      }),
  ],
])('wrapMcpTools with %s, spread into the options: an unlisted tool asks', async (_what, made) => {
  const agent = made(memoryWorld([{ calls: [book('c1', 'Paris')] }]).played.model);
  expect((await agent.run('Book', await agent.thread('t'))).status).toBe('waiting');
});

test('optionalOpaPolicy without a client is no rule', async () => {
  expect((await run(optionalOpaPolicy({ client: undefined, path }))).ran).toHaveLength(1);
});

test('opaCapabilityMiddleware hides tools from the model', async () => {
  const offered: unknown[] = [];
  const { played, agent, store } = memoryWorld([{ text: 'Done.' }]);
  const model = wrapLanguageModel({
    model: played.model,
    middleware: [
      opaCapabilityMiddleware({ client: engine(() => ['look']), path }),
      {
        specificationVersion: 'v4',
        transformParams: async ({ params }) => {
          offered.push(params.tools?.map(({ name }) => name));
          return params;
        },
      },
    ],
  });
  const restricted = agent({ model, store });
  await restricted.run('Book', await restricted.thread('t'));
  expect(offered).toEqual([['look']]);
});
