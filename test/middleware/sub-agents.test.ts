import { generateText, isStepCount, tool, ToolLoopAgent, type ToolSet } from 'ai';
import { createAgent, memoryStore } from 'holdpoint';
import { answerMessage, approvalRequestsOf, guardTools } from 'holdpoint/middleware';
import { agentTool } from 'holdpoint/tools';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { AgentOffice, ask, pay } from '../support/agent-office.ts';
import type { ScriptedStep } from '../support/script.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { conversation, modelOf, ofThread, requestsIn, scriptedWorld, ways } from './held-world.ts';

const buying: ScriptedStep[] = [{ calls: [ask('b1', 'buy', 'Pay Ann.')] }, { text: 'Done.' }];
const paying: ScriptedStep[] = [{ calls: [pay('p1', 'Ann')] }, { text: 'Paid.' }];

/** A buyer as a tool, and its office. */
function buyerTool(script = paying) {
  const office = new AgentOffice();
  const buyer = office.payer('buyer', script);
  return { office, buyer, buy: office.tool(buyer) };
}

test.each(ways)(
  '$name: behind holdPoint, the approval of a sub-agent comes out and is answered',
  async (way) => {
    const { office, buy } = buyerTool();
    const { model, agent } = scriptedWorld(buying, {
      tools: { buy },
      toolApproval: {},
      store: office.store,
    });
    const messages = [{ role: 'user' as const, content: 'Pay Ann.' }];
    const asked = await way.ask({ model, messages, ...ofThread() });
    expect(asked).toMatchObject({ text: '', finishReason: 'tool-calls' });
    const requests = approvalRequestsOf(asked);
    expect(requests).toMatchObject([
      {
        toolCall: { toolName: 'pay', input: { to: 'Ann' } },
        path: [{ agent: 'buyer', toolCallId: 'b1' }],
      },
    ]);
    /* As a part it would belong to a call of the caller's, of the inner id. */
    expect(requestsIn(asked.content)).toEqual([]);
    expect(asked.providerMetadata).toMatchObject({ holdpoint: { status: 'waiting' } });
    expect(asked.content.filter(({ type }) => type.startsWith('tool-'))).toMatchObject([
      { type: 'tool-call', toolCallId: 'b1', toolName: 'buy' },
    ]);

    const answers = requests.map((request) => answerMessage(request.approve()));
    const done = await way.ask({ model, messages: answers, ...ofThread() });
    expect(done).toMatchObject({ text: 'Done.', finishReason: 'stop' });
    expect(approvalRequestsOf(done)).toEqual([]);
    expect(office.payments).toHaveLength(1);
    expect((await agent.thread('t')).calls).toMatchObject([{ outcome: { output: 'Paid.' } }]);
  },
);

test.each(ways)(
  '$name: asked again with the whole history, it still waits, and runs nothing',
  async (way) => {
    const { office, buy } = buyerTool();
    const { model, played } = scriptedWorld(buying, {
      tools: { buy },
      toolApproval: {},
      store: office.store,
    });
    const { say, go } = conversation(way, { model });
    await say('Pay Ann.');
    const again = await go();
    expect(again).toMatchObject({ text: '', finishReason: 'tool-calls' });
    expect(approvalRequestsOf(again)).toHaveLength(1);
    expect(requestsIn(again.content)).toEqual([]);
    expect(played.requests).toBe(1);
    expect(office.payments).toEqual([]);
  },
);

test('an agent tool in a loop of the AI SDK is run to its end', async () => {
  const { office, buy } = buyerTool([{ text: 'Nothing to pay.' }]);
  const { model } = scriptedModel(buying);
  const { text, steps } = await generateText({
    model,
    tools: { buy },
    prompt: 'Pay Ann.',
    stopWhen: isStepCount(3),
  });
  expect(text).toBe('Done.');
  expect(steps[0]?.toolResults).toMatchObject([{ output: 'Nothing to pay.' }]);
  expect(office.payments).toEqual([]);
});

test.each([
  ['generateText', (tools: object) => tools],
  [
    'guardTools',
    (tools: object) => guardTools({ ...tools }, { store: memoryStore(), threadId: 't' }),
  ],
])(
  'in a loop of the AI SDK (%s), an agent tool that waits is an error with what to do, and never a result',
  async (_name, wrap) => {
    const { office, buyer, buy } = buyerTool();
    const { model } = scriptedModel(buying);
    const { steps } = await generateText({
      model,
      tools: { ...wrap({ buy }) },
      prompt: 'Pay Ann.',
      stopWhen: isStepCount(3),
    });
    expect(steps[0]?.toolResults).toEqual([]);
    const [failed] = steps[0]?.content.filter(({ type }) => type === 'tool-error') ?? [];
    const text = String(Object(failed).error);
    expect(text).toContain(
      "Agent 'buyer' has not finished (waiting), and this loop can't wait for it, so its requests were cancelled: The agent wants to call pay.",
    );
    expect(text).toContain(
      'Use the tool in createAgent, createCustomAgent or holdPoint, which show its requests',
    );
    const [threadId = ''] = /(?<=\(thread )[^)]+/.exec(text) ?? [];
    expect(await buyer.thread(threadId)).toMatchObject({ status: 'idle', activeRequests: [] });
    expect(office.payments).toEqual([]);
  },
);

/** A `ToolLoopAgent` of the AI SDK that pays once it was approved. */
function loopAgent(office: AgentOffice) {
  const tools = { pay: office.pay };
  const toolApproval = { pay: 'user-approval' } as const;
  return new ToolLoopAgent({ model: scriptedModel(paying).model, tools, toolApproval });
}

const prompted = { description: 'Buys.', inputSchema: z.object({ prompt: z.string() }) };

test("a ToolLoopAgent in a tool's execute can ask nobody: the approval is lost, and its text is empty", async () => {
  const office = new AgentOffice();
  const sub = loopAgent(office);
  const buy = tool({
    ...prompted,
    execute: async ({ prompt }) => (await sub.generate({ prompt })).text,
  });
  const agent = createAgent({ model: scriptedModel(buying).model, tools: { buy } });
  const response = await agent.run('Pay Ann.', await agent.thread('t'));
  expect(response.approvalRequests).toEqual([]);
  expect(response.thread.calls).toMatchObject([{ status: 'succeeded', outcome: { output: '' } }]);
  expect(office.payments).toEqual([]);
});

test.each([
  [
    'createAgent',
    async (tools: ToolSet) => {
      const agent = createAgent({ model: scriptedModel(buying).model, tools });
      await agent.run('Pay Ann.', await agent.thread('t'));
      return agent.thread('t');
    },
  ],
  [
    'holdPoint',
    async (tools: ToolSet) => {
      const { model, agent } = scriptedWorld(buying, { tools, toolApproval: {} });
      await generateText({ model, prompt: 'Pay Ann.', ...ofThread() });
      return agent.thread('t');
    },
  ],
])(
  'under %s, an execute that throws for such an approval makes it a failure',
  async (_name, play) => {
    const office = new AgentOffice();
    const sub = loopAgent(office);
    const buy = tool({
      ...prompted,
      execute: async ({ prompt }) => {
        const { text, content } = await sub.generate({ prompt });
        if (content.some(({ type }) => type === 'tool-approval-request')) {
          throw new Error('It needs an approval, which nobody can give here.');
        }
        return text;
      },
    });
    expect((await play({ buy })).calls).toMatchObject([
      { status: 'failed', outcome: { error: 'It needs an approval, which nobody can give here.' } },
    ]);
    expect(office.payments).toEqual([]);
  },
);

test('agentTool refuses a ToolLoopAgent', () => {
  const named = Object.assign(loopAgent(new AgentOffice()), { name: 'loop' });
  expect(() => {
    Reflect.apply(agentTool, undefined, [named, { description: 'Buys.' }]);
  }).toThrow('agentTool needs an agent made with createAgent or createCustomAgent.');
});

test("a ToolLoopAgent whose model has holdPoint, in a tool's execute: its requests stay in its own thread", async () => {
  const office = new AgentOffice();
  const held = scriptedWorld(paying, {
    tools: { pay: office.pay },
    toolApproval: { pay: 'user-approval' },
  });
  const sub = new ToolLoopAgent({ model: held.model, ...ofThread('inner') });
  const buy = tool({
    ...prompted,
    execute: async ({ prompt }) => {
      const result = await sub.generate({ prompt });
      const { length } = approvalRequestsOf(result);
      if (length > 0) throw new Error(`${length} approval waits in thread inner.`);
      return result.text;
    },
  });
  const agent = createAgent({ model: modelOf(scriptedModel(buying)), tools: { buy } });
  const response = await agent.run('Pay Ann.', await agent.thread('t'));
  expect(response.approvalRequests).toEqual([]);
  expect(response.thread.calls).toMatchObject([
    { status: 'failed', outcome: { error: '1 approval waits in thread inner.' } },
  ]);
  expect(office.payments).toEqual([]);
});
