import { generateText, isStepCount, type ModelMessage, ToolLoopAgent, wrapLanguageModel } from 'ai';
import { type Agent, type AgentThread, createAgent } from 'holdpoint';
import { heldCall, type holdPoint } from 'holdpoint/middleware';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import {
  clerkModel,
  clerkServer,
  clerkTools,
  instructions,
  lastWords,
  payment,
  question,
} from '../support/bakery.ts';
import { chatPage, openApprovals } from '../ui/chat-page.ts';
import { afterOf, guide, opened, sectionOf, storeFile } from './guide-steps.ts';
import {
  answerOnPage,
  makeHeldRoute,
  makeUnheldRoute,
  migrateChat,
  openHeldPage,
} from './migrated-chat.ts';
import { type Edits, runBlock } from './run-block.ts';

/* Apps as the AI SDK's documentation writes them. The guide is applied to them step by step, with its own code. */

const importing = 'docs/guides/importing.md';

/** A reader's own words in the blocks of the guide. */
const own: Edits = [
  ['Book me a flight to Paris on Friday.', question],
  ['trip-42', 'bakery'],
];

type Generated = Pick<
  Awaited<ReturnType<typeof generateText>>,
  'text' | 'content' | 'responseMessages' | 'warnings'
>;

/** The loop of an app: it sends the history back with a yes to each request. `answered` is what its answers have besides. */
async function runLoop(
  generate: (messages: ModelMessage[]) => PromiseLike<Generated>,
  answered: { providerExecuted?: true } = {},
) {
  const messages: ModelMessage[] = [{ role: 'user', content: question }];
  const asked: unknown[] = [];
  let result = await generate(messages);
  for (let rounds = 0; rounds < 2; rounds += 1) {
    messages.push(...result.responseMessages);
    const requests = result.content.filter((part) => part.type === 'tool-approval-request');
    if (requests.length === 0) break;
    asked.push(...requests.map(({ toolCall }) => toolCall.input));
    messages.push({
      role: 'tool',
      content: requests.map(({ approvalId }) => ({
        type: 'tool-approval-response',
        approvalId,
        approved: true,
        ...answered,
      })),
    });
    result = await generate(messages);
  }
  const { text, warnings } = result;
  return {
    text,
    asked,
    warnings: warnings?.map((each) => ('message' in each ? each.message : '')),
  };
}

/** What waits in a thread is answered by another process: another agent, on the same store. It pays once, and nothing is left to answer. */
async function answerElsewhere(
  agent: Agent,
  threadId: string,
  { paid, ...options }: { paid: readonly string[]; runtimeContext?: Record<string, unknown> },
) {
  const thread = await agent.thread(threadId);
  const [request, ...others] = thread.activeRequests;
  if (request?.type !== 'approval-request') throw new Error('The thread waits for no approval.');
  expect(others).toEqual([]);
  expect(request.toolCall?.input).toEqual(payment);
  expect(paid).toEqual([]);
  const { text } = await agent.run([request.approve()], thread, options);
  expect(text).toBe(lastWords);
  await agent.run([request.approve()], thread, options);
  expect(paid).toEqual(['M-77']);
}

describe('an agent with tools and toolApproval', () => {
  interface Role {
    role?: string;
  }

  function clerk() {
    const { tools, paid } = clerkTools();
    const toolApproval = {
      payInvoice: ({ euros }: typeof payment, { runtimeContext }: { runtimeContext: Role }) => {
        if (runtimeContext.role !== 'owner') return 'denied';
        return euros > 100 ? 'user-approval' : undefined;
      },
    } as const;
    const settings = { model: clerkModel(), tools, toolApproval, instructions };
    return { settings, paid, runtimeContext: { role: 'owner' }, stopWhen: isStepCount(10) };
  }

  test('asks and pays, before it is migrated', async () => {
    const { settings, paid, runtimeContext, stopWhen } = clerk();
    const agent = new ToolLoopAgent({ id: 'clerk', ...settings, runtimeContext, stopWhen });
    const { text, asked } = await runLoop(async (messages) => agent.generate({ messages }));
    expect({ text, asked, paid }).toEqual({ text: lastWords, asked: [payment], paid: ['M-77'] });
  });

  test('does the same as an agent of holdpoint, and a request survives a restart', async () => {
    const { settings, paid, runtimeContext, stopWhen } = clerk();
    const heading = 'From `ToolLoopAgent`';
    /* Step by step: each setting that stays behind is refused, with the place that the guide names. */
    const name = afterOf(guide, heading, 'id');
    // @ts-expect-error -- a setting of the AI SDK.
    const withId = () => createAgent({ ...settings, id: 'clerk' });
    expect(withId).toThrow(`createAgent has no setting 'id'; it is called '${name}' here.`);
    // @ts-expect-error -- a setting of the AI SDK.
    const withContext = () => createAgent({ ...settings, runtimeContext });
    expect(withContext).toThrow("no setting 'runtimeContext'; pass it to agent.run");

    const open = storeFile();
    const run = afterOf(guide, heading, 'runtimeContext').replace('input', '');
    const { names, printed } = await runBlock<{ agent: Agent; thread: AgentThread }>(
      `${guide}: From \`generateText\` with approvals, 2`,
      { ...settings, instructions, runtimeContext, stopWhen, store: open() },
      [
        ...own,
        ['createAgent({', `createAgent({ ${name}: 'clerk', instructions, stopWhen,`],
        [', thread);', run.slice(run.indexOf(', thread,')) + ';'],
      ],
    );
    const { agent, thread } = names;
    expect({ printed, paid }).toEqual({ printed: [lastWords], paid: ['M-77'] });
    expect(thread.decisions.map(({ status }) => status)).toEqual(['approved']);

    paid.length = 0;
    await agent.run(question, await agent.thread('another'), { runtimeContext });
    const restarted = createAgent({ name: 'clerk', ...settings, store: open() });
    await answerElsewhere(restarted, 'another', { paid, runtimeContext });
  });

  test('keeps its own loop behind holdPoint, and is told what its answers lack', async () => {
    const { tools, paid } = clerkTools();
    const open = storeFile();
    const toolApproval = { payInvoice: 'user-approval' } as const;
    const { names } = await runBlock<{ middleware: ReturnType<typeof holdPoint> }>(
      'docs/guides/your-own-loop.md: Settings of the call, 1',
      { model: clerkModel(), tools, toolApproval, store: open(), threadId: 'warm-up' },
    );
    const model = wrapLanguageModel({ model: clerkModel(), middleware: names.middleware });
    const settings = { id: 'clerk', model, instructions, tools };
    // @ts-expect-error -- rules belong to holdPoint.
    const withRules = () => new ToolLoopAgent(heldCall({ ...settings, toolApproval }));
    expect(withRules).toThrow('toolApproval');

    const ask = async (threadId: string, answered: { providerExecuted?: true }) => {
      const providerOptions = { holdpoint: { threadId } };
      const agent = new ToolLoopAgent(heldCall({ ...settings, providerOptions }));
      return runLoop(async (messages) => agent.generate({ messages }), answered);
    };
    const { text, warnings } = await ask('unchanged', {});
    expect({ text, paid }).toEqual({ text: '', paid: [] });
    expect(warnings?.join()).toContain('providerExecuted: true');

    expect(sectionOf(guide, 'Without giving up your own loop')).toContain(
      '`providerExecuted: true`',
    );
    const held = await ask('bakery', { providerExecuted: true });
    expect(held).toEqual({ text: lastWords, asked: [payment], warnings: [] });
    expect(paid).toEqual(['M-77']);

    /* The thread whose answer did not count still waits: another process reads it from the file. */
    paid.length = 0;
    const restarted = createAgent({ model: clerkModel(), tools, toolApproval, store: open() });
    await answerElsewhere(restarted, 'unchanged', { paid });
  });
});

describe('a chat with approvals', () => {
  const payInvoice = { type: 'user-approval', reason: 'It moves money.' } as const;

  test('shows and does the same after each step, and after a restart', async () => {
    const { tools, paid } = clerkTools();
    const settings = { model: clerkModel(), tools, toolApproval: { payInvoice } };
    await migrateChat(async () => settings, paid);
  });

  test('keeps a conversation that was waiting, and asks again', async () => {
    const { tools, paid } = clerkTools();
    const settings = { model: clerkModel(), tools, toolApproval: { payInvoice } };
    const { chat, quiet } = chatPage(await makeUnheldRoute(settings), { sendsHistory: true });
    await chat.sendMessage({ text: question });
    await quiet();
    expect(openApprovals(chat.messages)).toHaveLength(1);

    const store = storeFile()();
    const { handler } = await makeHeldRoute(settings, store);
    const openPage = chatPage(handler, { sendsHistory: true, messages: chat.messages });
    await openPage.respond(openApprovals(chat.messages)[0] ?? '', true);
    expect(openPage.errors.map(({ message }) => message).join()).toContain(
      "Import them on the server with agent.thread(id, { messages }), or create the handler with history: 'import'.",
    );

    await runBlock(
      `${importing}: With requests still open, 1`,
      { ...settings, store, saved: chat.messages },
      [
        ['const saved:', 'const example:'],
        ['with-open-requests', chat.id],
      ],
    );
    const page = await openHeldPage(handler);
    expect(page.requests).toEqual([]);
    await page.chat.sendMessage({ text: question });
    expect(paid).toEqual([]);
    await answerOnPage(page);
    expect(paid).toEqual(['M-77']);
  });
});

const metadataSchema = z.object({
  annotations: z.object({ readOnlyHint: z.boolean().default(false) }),
});

/** What the rule of an app with MCP tools reads of a call. */
interface MadeCall {
  toolCall: { toolMetadata?: unknown };
}

/** The rule of an app that trusts its server. */
function askUnlessReadOnly({ toolCall: { toolMetadata } }: MadeCall) {
  const { annotations } = metadataSchema.parse(toolMetadata);
  return annotations.readOnlyHint ? 'not-applicable' : 'user-approval';
}

describe('an app with MCP tools', () => {
  const toolApproval = askUnlessReadOnly;

  test('asks and pays, before it is migrated', async () => {
    const { connect, paid } = clerkServer();
    const client = await connect();
    opened.push(client);
    const tools = await client.tools();
    const call = { model: clerkModel(), tools, toolApproval, stopWhen: isStepCount(5) };
    const { text, asked } = await runLoop(async (messages) => generateText({ ...call, messages }));
    expect({ text, asked, paid }).toEqual({ text: lastWords, asked: [payment], paid: ['M-77'] });
  });

  test('does the same with its own rule, then with the one of the guide, and after a restart', async () => {
    const { connect, paid } = clerkServer();
    const [first, second] = [await connect(), await connect()];
    opened.push(first, second);
    const model = clerkModel();
    const open = storeFile();
    const unchanged = { model, tools: await first.tools(), toolApproval, store: open() };
    const { printed } = await runBlock(
      `${guide}: From \`generateText\` with approvals, 2`,
      unchanged,
      own,
    );
    expect({ printed, paid }).toEqual({ printed: [lastWords], paid: ['M-77'] });

    paid.length = 0;
    const block = `${guide}: From MCP tools of \`@ai-sdk/mcp\`, 1`;
    const started = await runBlock<{ agent: Agent }>(block, {
      model,
      mcpTools: await first.tools(),
      store: open(),
    });
    const { agent } = started.names;
    const { approvalRequests } = await agent.run(question, await agent.thread('another'));
    expect(approvalRequests[0]?.reason).toBe('The MCP server marks this tool as destructive.');
    const restarted = await runBlock<{ agent: Agent }>(block, {
      model,
      mcpTools: await second.tools(),
      store: open(),
    });
    await answerElsewhere(restarted.names.agent, 'another', { paid });
  });

  test('fails a call that is approved after the client was closed', async () => {
    const { connect, paid } = clerkServer();
    const client = await connect();
    const settings = { model: clerkModel(), tools: await client.tools(), toolApproval };
    const agent = createAgent({ ...settings, store: storeFile()() });
    const thread = await agent.thread('bakery');
    const { approvalRequests } = await agent.run(question, thread);
    await client.close();
    const answers = approvalRequests.map((request) => request.approve());
    await agent.run(answers, thread);
    const ends = thread.calls.map(({ outcome }) => outcome);
    expect(ends[1]).toEqual({ status: 'failed', error: expect.stringContaining('closed') });
    expect(paid).toEqual([]);
  });

  test('shows the same on its page after each step, and after a restart', async () => {
    const { connect, paid } = clerkServer();
    const model = clerkModel();
    await migrateChat(async () => {
      const client = await connect();
      opened.push(client);
      return { model, tools: await client.tools(), toolApproval };
    }, paid);
  });
});
