import {
  lastAssistantMessageIsCompleteWithApprovalResponses,
  lastAssistantMessageIsCompleteWithToolCalls,
  tool,
  type UIMessage,
} from 'ai';
import { type AgentOptions, later, memoryStore, type RunInput } from 'holdpoint';
import {
  createUiHandler,
  lastAssistantMessageHasApprovalResponses,
  toUIMessages,
  type UiHandlerOptions,
} from 'holdpoint/ui';
import { describe, expect, test } from 'vitest';
import type { ScriptedStep } from '../support/script.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { book, cityInput, travelTools, travelWorld } from '../support/travel-world.ts';
import {
  chatPage,
  chunksOf,
  comparable,
  lastText,
  openApprovals,
  type PageOptions,
  post,
  toolParts,
} from './chat-page.ts';

const authorize = () => ({ principal: 'ann' });

async function opened(
  script: ScriptedStep[],
  {
    agentOptions = {},
    handlerOptions = {},
    ...page
  }: PageOptions & {
    agentOptions?: Partial<AgentOptions>;
    handlerOptions?: Partial<UiHandlerOptions>;
  } = {},
) {
  const kept = memoryStore();
  const played = scriptedModel(script);
  const world = travelWorld(played, () => kept);
  const agent = world.agent(agentOptions);
  const handler = createUiHandler({ agent, authorize, ...handlerOptions });
  const reloaded = async () =>
    comparable(await toUIMessages(await agent.thread('t'), handlerOptions));
  return { world, played, agent, handler, reloaded, ...chatPage(handler, page) };
}

/** Runs until a call of `book` has begun that will never end. */
async function started(
  { world }: Awaited<ReturnType<typeof opened>>,
  options: Partial<AgentOptions>,
  input: RunInput,
): Promise<void> {
  const begun = Promise.withResolvers<void>();
  const tools = travelTools([]);
  const execute = async (): Promise<never> => {
    begun.resolve();
    return new Promise(() => {});
  };
  const dying = world.agent({ ...options, tools: { ...tools, book: { ...tools.book, execute } } });
  void dying.run(input, await dying.thread('t')).catch(() => {});
  await begun.promise;
}

const states = (messages: readonly UIMessage[]) =>
  toolParts(messages).map((part) => ({
    state: part.state,
    ...(part.state === 'output-available'
      ? { output: part.output, preliminary: part.preliminary }
      : {}),
  }));
const underWay = (status: string) => ({
  state: 'output-available',
  output: { status },
  preliminary: true,
});

describe.each([
  ["the AI SDK's predicate", lastAssistantMessageIsCompleteWithApprovalResponses],
  ['ours', lastAssistantMessageHasApprovalResponses],
])('a page that sends automatically, with %s, sends an answer once', (_name, predicate) => {
  test('when the call goes on elsewhere; its result is told when it comes', async () => {
    const job = tool({ inputSchema: cityInput, execute: async () => later });
    const at = await opened([{ calls: [book('c1', 'Paris')] }, { text: 'Booked.' }], {
      sendAutomaticallyWhen: predicate,
      agentOptions: { tools: { ...travelTools([]), book: job } },
    });
    await at.chat.sendMessage({ text: 'Book' });
    await at.respond(openApprovals(at.chat.messages)[0] ?? '', true);
    expect(at.sent).toHaveLength(2);
    expect(states(at.chat.messages)).toEqual([underWay('deferred')]);
    expect(comparable(at.chat.messages)).toEqual(await at.reloaded());
    const thread = await at.agent.thread('t');
    await at.agent.deliver(thread, 'c1', { status: 'succeeded', output: 'booked' });
    await at.chat.sendMessage();
    await at.quiet();
    expect(at.sent).toHaveLength(3);
    expect(states(at.chat.messages)).toMatchObject([
      { state: 'output-available', output: 'booked' },
    ]);
    expect(lastText(at.chat.messages)).toBe('Booked.');
    expect(comparable(at.chat.messages)).toEqual(await at.reloaded());
  });

  test('when nobody knows what became of a call, and another is approved beside it', async () => {
    let now = 1_000;
    const at = await opened([{ calls: [book('c1', 'Paris'), book('c2', 'Rome')] }], {
      sendAutomaticallyWhen: predicate,
      agentOptions: { now: () => now, leaseMs: 1_000 },
    });
    await at.chat.sendMessage({ text: 'Book' });
    const [first = '', second = ''] = openApprovals(at.chat.messages);
    const approval = { type: 'approval-response', requestId: first, approved: true } as const;
    await started(at, { now: () => now, leaseMs: 1_000 }, approval);
    now += 5_000;
    await Promise.all([at.respond(first, true), at.respond(second, true)]);
    expect(states(at.chat.messages)).toEqual([underWay('indeterminate'), underWay('approved')]);
    expect(at.sent.length).toBeLessThanOrEqual(3);
    expect(comparable(at.chat.messages)).toEqual(await at.reloaded());
  });

  test('when an answer is refused', async () => {
    const at = await opened([{ calls: [book('c1', 'Paris')] }], {
      sendAutomaticallyWhen: predicate,
    });
    await at.chat.sendMessage({ text: 'Book' });
    await at.agent.cancel(await at.agent.thread('t'));
    await at.respond(openApprovals(at.chat.messages)[0] ?? '', true);
    expect(at.sent.map(({ status }) => status)).toEqual([200, 409]);
  });
});

describe('a tool that the page runs', () => {
  const here = tool({ description: 'Where am I?', inputSchema: cityInput });
  const asks = [
    { calls: [{ id: 'c1', name: 'here', input: { city: '?' } }] },
    { text: 'In Rome.' },
  ];
  const clientTools = ['here'];
  const agentOptions = { tools: { ...travelTools([]), here } };

  test('brings its result with addToolOutput, once', async () => {
    const at = await opened(asks, {
      agentOptions,
      handlerOptions: { clientTools },
      sendAutomaticallyWhen: lastAssistantMessageIsCompleteWithToolCalls,
    });
    await at.chat.sendMessage({ text: 'Where?' });
    expect(states(at.chat.messages)).toEqual([{ state: 'input-available' }]);
    expect(comparable(at.chat.messages)).toEqual(await at.reloaded());
    await at.chat.addToolOutput({ tool: 'here', toolCallId: 'c1', output: 'Rome' });
    await at.quiet();
    expect(lastText(at.chat.messages)).toBe('In Rome.');
    expect(at.sent).toHaveLength(2);
    expect(at.sent[1]?.body).toMatchObject({ outputs: [{ toolCallId: 'c1', output: 'Rome' }] });
    expect(comparable(at.chat.messages)).toEqual(await at.reloaded());
    await at.chat.sendMessage();
    await at.quiet();
    expect(JSON.stringify(at.sent[2]?.body)).not.toContain('outputs');
    const [ended] = (await at.agent.thread('t')).events.filter(({ type }) => type === 'call-ended');
    expect(ended).toMatchObject({ source: 'delivered', principal: 'ann', channel: 'ui' });
  });

  test('keeps what its tool says of it when the result is there; a tool of the server can’t say that the page runs it', async () => {
    const metadata = { clientName: 'maps' };
    const tools = {
      ...travelTools([]),
      here: tool({ inputSchema: cityInput, metadata }),
      other: tool({
        inputSchema: cityInput,
        metadata: { clientTool: true, ...metadata },
        execute: () => 'x',
      }),
    };
    const calls = [
      { id: 'c1', name: 'here', input: { city: '?' } },
      { id: 'c2', name: 'other', input: { city: 'Rome' } },
    ];
    const at = await opened([{ calls }, { text: 'In Rome.' }], {
      agentOptions: { tools },
      handlerOptions: { clientTools, tools },
    });
    await at.chat.sendMessage({ text: 'Where?' });
    expect(toolParts(at.chat.messages)).toMatchObject([
      { toolMetadata: { ...metadata, clientTool: true } },
      { toolMetadata: metadata },
    ]);
    expect(toolParts(at.chat.messages)[1]).not.toHaveProperty('toolMetadata.clientTool');
    await at.chat.addToolOutput({ tool: 'here', toolCallId: 'c1', output: 'Rome' });
    await at.chat.sendMessage();
    await at.quiet();
    for (const { toolMetadata } of toolParts(at.chat.messages))
      expect(toolMetadata).toEqual(metadata);
    expect(comparable(at.chat.messages)).toEqual(await at.reloaded());
  });

  test('may fail there', async () => {
    const at = await opened(asks, { agentOptions, handlerOptions: { clientTools } });
    await at.chat.sendMessage({ text: 'Where?' });
    await at.chat.addToolOutput({
      tool: 'here',
      toolCallId: 'c1',
      state: 'output-error',
      errorText: 'no satellite',
    });
    await at.chat.sendMessage();
    await at.quiet();
    expect(states(at.chat.messages)).toEqual([{ state: 'output-error' }]);
    expect(JSON.stringify(at.played.prompts[1])).toContain('no satellite');
    expect(comparable(at.chat.messages)).toEqual(await at.reloaded());
  });

  test('is held until it is approved, and is the page to run then', async () => {
    const seen: string[] = [];
    const at = await opened(asks, {
      agentOptions: { ...agentOptions, toolApproval: { here: 'user-approval' } },
      handlerOptions: { clientTools },
      sendAutomaticallyWhen: ({ messages }) =>
        lastAssistantMessageHasApprovalResponses({ messages }) ||
        lastAssistantMessageIsCompleteWithToolCalls({ messages }),
      onToolCall: ({ toolCall }) => void seen.push(toolCall.toolCallId),
    });
    await at.chat.sendMessage({ text: 'Where?' });
    const early = await at.handler(
      post({ id: 't', outputs: [{ toolCallId: 'c1', output: 'Rome' }] }),
    );
    expect(early.status).toBe(403);
    await at.respond(openApprovals(at.chat.messages)[0] ?? '', true);
    expect(at.sent).toHaveLength(2);
    expect(states(at.chat.messages)).toEqual([{ state: 'input-available' }]);
    expect(seen).toEqual(['c1', 'c1']);
    expect(comparable(at.chat.messages)).toEqual(await at.reloaded());
    await at.chat.addToolOutput({ tool: 'here', toolCallId: 'c1', output: 'Rome' });
    await at.quiet();
    expect(lastText(at.chat.messages)).toBe('In Rome.');
    expect(at.sent).toHaveLength(3);
    expect(comparable(at.chat.messages)).toEqual(await at.reloaded());
  });

  test('is given to the page as a person has edited it', async () => {
    const seen: unknown[] = [];
    const toolApproval = { here: { type: 'user-approval', editable: true } } as const;
    const at = await opened(asks, {
      agentOptions: { ...agentOptions, toolApproval },
      handlerOptions: { clientTools },
      onToolCall: ({ toolCall }) => void seen.push(toolCall.input),
    });
    await at.chat.sendMessage({ text: 'Where?' });
    const [request] = (await at.agent.thread('t')).activeApprovalRequests;
    await at.agent.respond(
      request?.approve({ input: { city: 'Oslo' } }) ?? [],
      await at.agent.thread('t'),
      { principal: 'ann' },
    );
    await at.chat.resumeStream();
    await at.chat.sendMessage();
    await at.quiet();
    expect(seen.at(-1)).toEqual({ city: 'Oslo' });
  });

  test.each([
    ['a tool that the app did not name', [], 'c1', 403],
    ['a call that there is not', clientTools, 'c9', 404],
  ])('no result is taken for %s', async (_name, named, toolCallId, status) => {
    const at = await opened(asks, { agentOptions, handlerOptions: { clientTools: named } });
    await at.chat.sendMessage({ text: 'Where?' });
    const before = JSON.stringify(await at.agent.thread('t'));
    const outputs = [
      { toolCallId: 'c1', output: 'Rome' },
      { toolCallId, output: 'Rome' },
    ];
    expect((await at.handler(post({ id: 't', outputs }))).status).toBe(status);
    expect(JSON.stringify(await at.agent.thread('t'))).toBe(before);
  });

  test('no result is taken for a call that was begun elsewhere, whatever the app named', async () => {
    let now = 1_000;
    const clock = { now: () => now, leaseMs: 1_000 };
    const at = await opened([{ calls: [book('c1', 'Paris')] }], {
      agentOptions: clock,
      handlerOptions: { clientTools: ['book'] },
    });
    await started(at, { ...clock, toolApproval: {} }, 'Book');
    now += 5_000;
    const outputs = [{ toolCallId: 'c1', output: 'booked' }];
    expect((await at.handler(post({ id: 't', outputs }))).status).toBe(403);
    expect((await at.agent.thread('t')).status).toBe('indeterminate');
  });

  test('two results in one request are refused, and none is recorded (regression: the first one was)', async () => {
    const at = await opened(asks, { agentOptions, handlerOptions: { clientTools } });
    await at.chat.sendMessage({ text: 'Where?' });
    const outputs = [
      { toolCallId: 'c1', output: 'Rome' },
      { toolCallId: 'c1', output: 'Oslo' },
    ];
    await at.chat.sendMessage(undefined, { body: { outputs } });
    expect(at.sent.at(-1)?.status).toBe(400);
    expect((await at.agent.thread('t')).status).toBe('waiting');
  });

  test('another result than the first is refused', async () => {
    const at = await opened(asks, { agentOptions, handlerOptions: { clientTools } });
    await at.chat.sendMessage({ text: 'Where?' });
    const bring = (output: string) =>
      at.handler(post({ id: 't', outputs: [{ toolCallId: 'c1', output }] }));
    await chunksOf(await bring('Rome'));
    expect((await bring('Rome')).status).toBe(200);
    expect((await bring('Paris')).status).toBe(409);
  });
});

describe('a request about no call', () => {
  test('is a data part, replaced when it is answered, in this turn or a later one', async () => {
    const at = await opened([{ text: 'Hello.' }, { text: 'Again.' }]);
    await at.chat.sendMessage({ text: 'Hi' });
    const thread = await at.agent.thread('t');
    const request = await at.agent.requestApproval(thread, { text: 'Publish?' });
    await at.chat.sendMessage();
    await at.quiet();
    const shown = at.chat.messages.at(-1)?.parts.find(({ type }) => type.startsWith('data-'));
    expect(shown).toEqual({
      type: 'data-approval-request',
      id: request.requestId,
      data: JSON.parse(JSON.stringify(request)),
    });
    expect(comparable(at.chat.messages)).toEqual(await at.reloaded());
    await at.chat.sendMessage(undefined, { body: { answers: [request.approve()] } });
    await at.quiet();
    expect(at.chat.messages.at(-1)?.parts).toContainEqual(
      expect.objectContaining({
        type: 'data-approval-request',
        data: expect.objectContaining({ answer: expect.objectContaining({ approved: true }) }),
      }),
    );
    expect(comparable(at.chat.messages)).toEqual(await at.reloaded());
    const late = await at.agent.requestApproval(await at.agent.thread('t'), { text: 'Late?' });
    await at.chat.sendMessage({ text: 'Go on' }, { body: { whilePending: 'cancel' } });
    const [, first] = await toUIMessages(await at.agent.thread('t'));
    expect(first?.parts).toContainEqual(
      expect.objectContaining({
        id: late.requestId,
        data: expect.objectContaining({ closed: 'cancelled' }),
      }),
    );
  });
});
