import {
  type Agent,
  createAgent,
  HoldpointError,
  memoryStore,
  type QuestionRequestContent,
} from 'holdpoint';
import { createCallbackHandler, remoteTool } from 'holdpoint/rap';
import { runWorker } from 'holdpoint/worker';
import { expect, test } from 'vitest';
import { statelessModel } from '../faults/stateless-model.ts';
import { cityInput } from '../support/travel-world.ts';
import { CallbackSite } from './callback-site.ts';
import { secret } from './remote-world.ts';
import { type Invocation, post, status, ToolServer } from './tool-server.ts';
import type { DiscardedCallback } from '../../src/channels/rap/create-callback-handler.ts';

/* What a server does with a call. Each thread has one call of each kind. */
const kinds = new Map<string, (server: LoadedServer, invocation: Invocation) => Promise<unknown>>([
  ['plain', async (server, call) => server.finish(call)],
  ['slow', async (server, call) => server.after(30, () => server.finish(call))],
  ['lost', async () => {}],
  ['lost-and-done', async (server, call) => server.after(5, () => server.finish(call))],
  ['failing', async () => {}],
  ['failing-and-late', async (server, call) => server.after(50, () => server.finish(call))],
  [
    'twice',
    async (server, call) =>
      Promise.all([server.finish(call), server.finish(call, { text: 'Another.' })]),
  ],
  [
    'flooding-results',
    async (server, call) => Promise.all(Array.from({ length: 20 }, () => server.finish(call))),
  ],
  [
    'flooding-questions',
    async (server, call) => {
      const prompts = Array.from({ length: 20 }, (_, count) => `${count}?`);
      await Promise.all(prompts.map(async (prompt) => server.ask(call, { prompt })));
      await server.ask(call, { prompt: 'x'.repeat(16_000) });
      await server.finish(call);
    },
  ],
  ['asking', async (server, call) => server.ask(call)],
]);
const threads = Array.from({ length: 20 }, (_, index) => `thread-${index}`);

/** A tool server of all kinds. */
class LoadedServer {
  readonly tools: ToolServer;
  readonly work: Promise<unknown>[] = [];
  /** What it was answered. */
  readonly statuses = new Set<number>();

  constructor(tools: ToolServer) {
    this.tools = tools;
  }

  /** Takes the next requests in, as their kind has it. */
  expect(count: number): void {
    for (let index = 0; index < count; index += 1) {
      this.tools.invokeBehaviours.push(({ text }, response, request) => {
        const invocation: Invocation = JSON.parse(text);
        const { city: kind } = cityInput.parse(invocation.arguments);
        if (kind.startsWith('lost')) request.socket.destroy();
        else response.writeHead(kind.startsWith('failing') ? 500 : 200).end();
        this.work.push(kinds.get(kind)?.(this, invocation) ?? Promise.resolve());
      });
    }
  }

  async ask(invocation: Invocation, fields: object = {}): Promise<void> {
    const { responseUrl: response_url } = this.tools;
    const choice = { prompt: 'Sure?', choices: ['Yes', 'No'], default: 1, response_url, ...fields };
    await this.#call(invocation, { type: 'user_choice', ...choice });
  }

  async finish(invocation: Invocation, fields: object = { text: 'Done.' }): Promise<void> {
    await this.#call(invocation, { type: 'tool_result', ...fields });
  }

  async after(milliseconds: number, act: () => Promise<void>): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    setTimeout(resolve, milliseconds);
    await promise;
    await act();
  }

  async #call({ callback_url, group_id, id }: Invocation, message: object): Promise<void> {
    this.statuses.add(await postAgain(callback_url, { group_id, id, ...message }));
  }
}

/* As the protocol has it: what did not get through is sent again. */
async function postAgain(url: string, message: object): Promise<number> {
  for (;;) {
    try {
      return await post(url, message);
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
    }
  }
}

/** Answers every question as it is asked; of one that was replaced or closed meanwhile, nothing is left to answer. */
function answerAll(agent: Agent): void {
  agent.on('request-opened', async ({ event: { request }, threadId }) => {
    if (request.type !== 'question-request') return;
    try {
      await agent.respond(yes(request), await agent.thread(threadId));
    } catch (error) {
      if (!HoldpointError.isInstance(error) || error.code !== 'request-closed') throw error;
    }
  });
}

function yes({ requestId }: QuestionRequestContent) {
  const answers = [{ key: 'choice', optionIds: ['0'] }];
  return { type: 'question-response', requestId, status: 'answered', answers } as const;
}

test('200 calls at once, at a server that is slow, drops connections, answers twice, answers late and floods: every call ends, none twice', async () => {
  await using tools = await ToolServer.start();
  await using site = await CallbackSite.start();
  const server = new LoadedServer(tools);
  const names = [...kinds.keys()];
  server.expect(threads.length * names.length);
  /* The first answers are not taken at once. */
  tools.answerBehaviours.push(...Array.from({ length: 20 }, () => status(503)));

  const store = memoryStore();
  const write = remoteTool({
    endpoint: tools.endpoint,
    description: 'Writes.',
    inputSchema: cityInput,
    callbackUrl: site.url,
    secret,
    wait: async () => {},
  });
  const agent = createAgent({
    model: statelessModel([names.map((kind) => ['write', kind])], async (_prompt, answer) =>
      answer(),
    ),
    tools: { write },
    store,
  });
  const discarded = new Map<DiscardedCallback['reason'], number>();
  site.handler = createCallbackHandler({
    agent,
    tools: { write },
    maximumQuestions: 10,
    onDiscarded: ({ reason }) => discarded.set(reason, (discarded.get(reason) ?? 0) + 1),
  });
  answerAll(agent);
  /* The server ends a call that asked once it has an answer. */
  agent.on('answer-delivered', ({ threadId }) => {
    const asking = tools.invocations.filter(({ group_id }) => group_id === threadId);
    const call = asking.find((each) => cityInput.parse(each.arguments).city === 'asking');
    if (call !== undefined) server.work.push(server.finish(call));
  });

  const stopping = new AbortController();
  let done = 0;
  agent.on('step-finished', ({ event }) => {
    if (event.step === 1) done += 1;
    if (done === threads.length) stopping.abort();
  });
  const errors: unknown[] = [];
  const working = runWorker({
    agent,
    store,
    signal: stopping.signal,
    pollMs: 5,
    concurrency: threads.length,
    onError: (error) => errors.push(error),
  });
  await Promise.all(threads.map(async (id) => agent.run('Go', await agent.thread(id))));
  await working;
  for (const work of server.work) await work;

  expect(errors).toEqual([]);
  expect([...server.statuses]).toEqual([200]);
  expect(tools.invocations).toHaveLength(200);
  expect(new Set(tools.invocations.map(({ call_id }) => call_id)).size).toBe(200);
  for (const id of threads) {
    const { calls, events, activeRequests } = await agent.thread(id);
    expect(events.filter(({ type }) => type === 'call-ended')).toHaveLength(names.length);
    expect(calls.every(({ outcome }) => outcome !== undefined)).toBe(true);
    expect(activeRequests).toEqual([]);
    /* However much was sent, what is kept of it is bounded. */
    expect(events.length).toBeLessThan(150);
    expect(JSON.stringify(events).length).toBeLessThan(100_000);
  }
  expect(discarded.get('ended')).toBeGreaterThan(threads.length * 20);
  expect(discarded.get('too-many')).toBe(threads.length * 11);
});
