import { asSchema, generateText, isStepCount, tool, type ToolSet, wrapLanguageModel } from 'ai';
import { createAgent, memoryStore } from 'holdpoint';
import { backtest } from 'holdpoint/backtest';
import { createCustomAgent } from 'holdpoint/custom-agent';
import { answerMessage, approvalRequestsOf, guardTools, holdPoint } from 'holdpoint/middleware';
import { scriptedModel } from 'holdpoint/testing';
import { agentTool } from 'holdpoint/tools';
import { createUiHandler } from 'holdpoint/ui';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { chatPage } from '../ui/chat-page.ts';

const day = '2026-11-29T00:00:00.000Z';
const input = { to: ' ada ', memo: null, at: day };
const shown = { to: 'ada', at: day };
const made = { to: 'ada', memo: undefined, at: new Date(day) };

/** A tool whose schema trims, drops a field, and makes a date; and what ran. */
function payTools(): { tools: ToolSet; ran: unknown[] } {
  const ran: unknown[] = [];
  const pay = tool({
    description: 'Pays.',
    inputSchema: z.object({
      to: z.string().trim(),
      memo: z
        .string()
        .nullable()
        .transform((memo) => memo ?? undefined),
      at: z.string().transform((text) => new Date(text)),
    }),
    execute: async (given) => {
      ran.push(given);
      return 'paid';
    },
  });
  return { tools: { pay }, ran };
}

const script = () =>
  scriptedModel([{ calls: [{ id: 'c1', name: 'pay', input }] }, { text: 'Done.' }]);
const toolApproval = { pay: 'user-approval' } as const;

test('the AI SDK alone runs the value that the schema makes', async () => {
  const { tools, ran } = payTools();
  await generateText({ model: script().model, tools, prompt: 'Pay.', stopWhen: isStepCount(3) });
  expect(ran).toEqual([made]);
});

test('a model behind holdPoint shows its JSON, and runs it once approved', async () => {
  const { tools, ran } = payTools();
  const middleware = holdPoint({ tools, toolApproval, store: memoryStore() });
  const model = wrapLanguageModel({ model: script().model, middleware });
  const providerOptions = { holdpoint: { threadId: 't' } };
  const asked = await generateText({ model, prompt: 'Pay.', providerOptions });
  const requests = approvalRequestsOf(asked);
  expect(requests.map(({ toolCall }) => toolCall?.input)).toEqual([shown]);
  const messages = requests.map((request) => answerMessage(request.approve()));
  await generateText({ model, messages, providerOptions });
  expect(ran).toEqual([made]);
});

test('a guarded tool runs it once, and gives the recorded result to the same call in another process', async () => {
  const { tools, ran } = payTools();
  const store = memoryStore();
  for (const _ of [1, 2]) {
    const guarded = guardTools(tools, { store, threadId: 't' });
    const { model } = script();
    await generateText({ model, tools: guarded, prompt: 'Pay.', stopWhen: isStepCount(3) });
  }
  expect(ran).toEqual([made]);
});

test('a page shows its JSON, and runs it once approved', async () => {
  const { tools, ran } = payTools();
  const agent = createAgent({ model: script().model, tools, toolApproval });
  const handler = createUiHandler({ agent, authorize: () => ({ principal: 'ann' }) });
  const page = chatPage(handler);
  await page.chat.sendMessage({ text: 'Pay.' });
  const part = page.chat.messages.at(-1)?.parts.at(-1);
  expect(part).toMatchObject({ state: 'approval-requested', input: shown });
  const { approval } = z.object({ approval: z.object({ id: z.string() }) }).parse(part);
  await page.chat.addToolApprovalResponse({ id: approval.id, approved: true });
  await page.chat.sendMessage();
  expect(ran).toEqual([made]);
});

test('a sub-agent asks about its JSON above, and runs it; its own call gets what its schema makes', async () => {
  const { tools, ran } = payTools();
  const store = memoryStore();
  const prompts: unknown[] = [];
  const buyer = createAgent({ name: 'buyer', model: script().model, tools, toolApproval, store });
  const buy = agentTool(buyer, {
    description: 'Buys.',
    inputSchema: z.object({ until: z.string().transform((text) => new Date(text)) }),
    prompt: ({ until }) => {
      prompts.push(until);
      return `Buy until ${until.getFullYear()}.`;
    },
  });
  const { model } = scriptedModel([
    { calls: [{ id: 'b1', name: 'buy', input: { until: day } }] },
    { text: 'Bought.' },
  ]);
  const agent = createAgent({ name: 'chief', model, tools: { buy }, store });
  const thread = await agent.thread('t');
  const asked = await agent.run('Buy.', thread);
  expect(asked.approvalRequests.map(({ toolCall }) => toolCall?.input)).toEqual([shown]);
  const answers = asked.approvalRequests.map((request) => request.approve());
  expect(await agent.run(answers, thread)).toMatchObject({ status: 'completed' });
  expect(ran).toEqual([made]);
  expect(prompts.every((until) => until instanceof Date)).toBe(true);
});

test('a sub-agent gets what was recorded, also of a schema that makes another value each time', async () => {
  const store = memoryStore();
  const prompts: unknown[] = [];
  const { model } = scriptedModel([{ text: 'Bought.' }]);
  let count = 0;
  const buy = agentTool(createAgent({ name: 'buyer', model, store }), {
    description: 'Buys.',
    inputSchema: z.object({
      until: z.string().transform((text) => new Date(Date.parse(text) + (count += 1))),
    }),
    prompt: ({ until }) => {
      prompts.push(until);
      return 'Buy.';
    },
  });
  const calling = scriptedModel([
    { calls: [{ id: 'b1', name: 'buy', input: { until: day } }] },
    { text: 'Bought.' },
  ]);
  const agent = createAgent({ name: 'chief', model: calling.model, tools: { buy }, store });
  const thread = await agent.thread('t');
  await agent.run('Buy.', thread);
  expect(prompts).toEqual([new Date(Date.parse(day) + 1)]);
  expect(thread.calls).toMatchObject([{ input: { until: '2026-11-29T00:00:00.001Z' } }]);
});

test('a custom agent asks about its JSON, and runs it', async () => {
  const { tools, ran } = payTools();
  const agent = createCustomAgent({
    tools,
    toolApproval,
    step: async ({ toolCalls }) =>
      toolCalls.length === 0 ? { toolCalls: [{ toolName: 'pay', input }] } : { text: 'Done.' },
  });
  const thread = await agent.thread('t');
  const asked = await agent.run('Pay.', thread);
  expect(asked.approvalRequests.map(({ toolCall }) => toolCall?.input)).toEqual([shown]);
  await agent.run(
    asked.approvalRequests.map((request) => request.approve()),
    thread,
  );
  expect(ran).toEqual([made]);
});

test('a custom agent that passes what is no JSON runs nothing, instead of something else', async () => {
  const ran: unknown[] = [];
  const agent = createCustomAgent({
    tools: { pay: tool({ inputSchema: z.unknown(), execute: (given) => ran.push(given) }) },
    step: async ({ toolCalls }) =>
      toolCalls.length === 0
        ? { toolCalls: [{ toolName: 'pay', input: { at: new Date(day) } }] }
        : { text: 'Done.' },
  });
  const thread = await agent.thread('t');
  await agent.run('Pay.', thread);
  expect([ran, thread.calls[0]?.status]).toEqual([[], 'failed']);
  expect(JSON.stringify(thread.calls[0]?.outcome)).toContain('JSON has no Date');
});

test('a backtest decides on its JSON, as the rules do', async () => {
  const { tools } = payTools();
  const seen: unknown[] = [];
  const agent = createAgent({ model: script().model, tools, toolApproval });
  const thread = await agent.thread('t');
  await agent.run('Pay.', thread);
  await backtest({
    tools,
    threads: [thread],
    toolApproval: {
      pay: ({ to, at }: { to: string; at: unknown }) => {
        seen.push({ to, at });
        return 'user-approval';
      },
    },
  });
  expect(seen).toContainEqual(shown);
});

const toPay = z.object({ to: z.string().trim() });
const paid = tool({ inputSchema: toPay, execute: async (given) => given });

test('`repairToolCall` gets tools that validate as the app wrote them', async () => {
  const { model } = scriptedModel([
    { calls: [{ id: 'c1', name: 'pay', input: { too: ' ada ' } }] },
    { text: 'Done.' },
  ]);
  const agent = createAgent({
    model,
    tools: { pay: paid },
    repairToolCall: async ({ toolCall, tools }) => {
      const repaired = await asSchema(tools['pay']?.inputSchema).validate?.({ to: ' ada ' });
      return { ...toolCall, input: JSON.stringify(repaired?.success && repaired.value) };
    },
  });
  const thread = await agent.thread('t');
  await agent.run('Pay.', thread);
  expect(thread.calls).toMatchObject([{ input: { to: 'ada' }, status: 'succeeded' }]);
});

test("telemetry of the AI SDK is told what the schema made, as in the AI SDK's own loop", async () => {
  const told: unknown[] = [];
  const { model } = scriptedModel([
    { calls: [{ id: 'c1', name: 'pay', input: { to: ' ada ' } }] },
    { text: 'Done.' },
  ]);
  const agent = createAgent({
    model,
    tools: { pay: paid },
    telemetry: {
      integrations: [
        {
          onStepEnd: ({ toolCalls }) => {
            told.push(...toolCalls.map((call) => call.input));
          },
        },
      ],
    },
  });
  await agent.run('Pay.', await agent.thread('t'));
  expect(told).toEqual([{ to: 'ada' }]);
});

/** A tool that pays the factor of what the model writes. */
function payTimes(factor: number): ToolSet {
  const inputSchema = z.object({ n: z.number().transform((n) => n * factor) });
  return { pay: tool({ inputSchema, execute: async () => 'paid' }) };
}

test('a backtest decides on the value that its schema made last, as the log did', async () => {
  const call = { id: 'c1', name: 'pay', input: { n: 5 } };
  const { model } = scriptedModel([{ calls: [call] }, { text: 'Done.' }]);
  const store = memoryStore();
  const asking = createAgent({ model, tools: payTimes(1), toolApproval, store });
  const { approvalRequests } = await asking.run('Pay.', await asking.thread('t'));
  const later = createAgent({ model, tools: payTimes(100), toolApproval, store });
  const thread = await later.thread('t');
  await later.run(
    approvalRequests.map((request) => request.approve()),
    thread,
  );
  const [again] = thread.activeApprovalRequests;
  expect(again?.toolCall?.input).toEqual({ n: 500 });
  const seen: unknown[] = [];
  await backtest({
    tools: payTimes(100),
    threads: [thread],
    toolApproval: {
      pay: ({ n }: { n: number }) => {
        seen.push(n);
        return 'user-approval';
      },
    },
  });
  expect(new Set(seen)).toEqual(new Set([500]));
});

test('a delegated call goes on with the value that it began with, whatever its schema takes by then', async () => {
  const { tools, ran } = payTools();
  const store = memoryStore();
  const prompts: unknown[] = [];
  const buyer = createAgent({ name: 'buyer', model: script().model, tools, toolApproval, store });
  const until = z.string().transform((text) => new Date(text));
  const { model } = scriptedModel([
    { calls: [{ id: 'b1', name: 'buy', input: { until: day } }] },
    { text: 'Bought.' },
  ]);
  const prompt = (asked: { until: Date }): string => {
    prompts.push(asked.until);
    return `Buy until ${asked.until.getFullYear()}.`;
  };
  const chief = (inputSchema: z.ZodType<{ until: Date }>) => {
    const buy = agentTool(buyer, { description: 'Buys.', inputSchema, prompt });
    return createAgent({ name: 'chief', model, tools: { buy }, store });
  };
  const before = chief(z.object({ until }));
  await before.run('Buy.', await before.thread('t'));
  const after = chief(z.object({ until, budget: z.number() }));
  const thread = await after.thread('t');
  const answers = thread.activeApprovalRequests.map((request) => request.approve());
  expect(await after.run(answers, thread)).toMatchObject({ status: 'completed' });
  expect(ran).toEqual([made]);
  expect(prompts.every((each) => each instanceof Date)).toBe(true);
});
