import { generateText, tool, wrapLanguageModel } from 'ai';
import { type AgentOptions, approve, createAgent, memoryStore, type ThreadStore } from 'holdpoint';
import { createAgUiHandler } from 'holdpoint/ag-ui';
import { auditTrail } from 'holdpoint/audit';
import { createCustomAgent } from 'holdpoint/custom-agent';
import { answerMessage, approvalRequestsOf, holdPoint } from 'holdpoint/middleware';
import { createCallbackHandler, createToolServer, remoteTool } from 'holdpoint/rap';
import { eventsOf } from 'holdpoint/schemas';
import { scriptedModel } from 'holdpoint/testing';
import { userChoice } from 'holdpoint/tools';
import { createUiHandler } from 'holdpoint/ui';
import { runWorker } from 'holdpoint/worker';
import { z } from 'zod';
import { type Check, equal, played } from './played.ts';

/* What every runtime plays: the same file, from the installed package. */

const inputSchema = z.object({ city: z.string() });

/** What a tool did, and the agents of one app over a store: each as a new process would make it. */
export function world(store: ThreadStore = memoryStore()) {
  const ran: string[] = [];
  const bookFlight = tool({
    description: 'Books a flight.',
    inputSchema,
    execute: async ({ city }) => {
      ran.push(city);
      return { booked: city };
    },
  });
  const { model } = scriptedModel([
    {
      text: 'Let me look.',
      calls: [{ id: 'c1', name: 'bookFlight', input: { city: 'Paris' } }],
    },
    { text: 'Booked a flight to Paris.' },
  ]);
  const tools = { bookFlight };
  const toolApproval = { bookFlight: 'user-approval' } as const;
  const agent = (options: Partial<AgentOptions> = {}) =>
    createAgent({ model, tools, toolApproval, store, maxRetries: 0, ...options });
  return { ran, model, tools, toolApproval, store, agent };
}

const question = 'Book me a flight to Paris.';
const booked = 'Booked a flight to Paris.';

/** A turn with an approval, opened anew for the answer, which comes twice. */
export async function cycle(store?: ThreadStore): Promise<void> {
  const { agent, ran } = world(store);
  const first = agent();
  const asked = await first.run(question, await first.thread('cycle'));
  equal([asked.status, ran.length], ['waiting', 0]);
  const second = agent();
  const thread = await second.thread('cycle');
  const answers = thread.activeApprovalRequests.map((request) => request.approve());
  const done = await second.run(answers, thread);
  equal([done.status, done.text, ran], ['completed', booked, ['Paris']]);
  const third = agent();
  await third.run(answers, await third.thread('cycle'));
  equal(ran.length, 1);
  equal((await auditTrail(await third.thread('cycle'))).rows.length > 3, true);
}

async function restoredElsewhere(): Promise<void> {
  const { agent, ran, store } = world();
  const here = agent();
  const thread = await here.thread('moved');
  await here.run(question, thread);
  const json = JSON.stringify(thread);
  const there = agent({ store: memoryStore() });
  const restored = await there.restore(json);
  const answers = restored.activeApprovalRequests.map((request) => request.approve());
  equal((await there.run(answers, restored)).text, booked);
  equal(ran, ['Paris']);
  const [entry] = await store.read('moved');
  equal(entry && eventsOf(entry)[0]?.type, 'thread-created');
  await fails(() => there.restore(json.replace('Paris', 'Poros')), 'log-tampered');
}

async function streamed(): Promise<void> {
  const { agent } = world();
  const streaming = agent();
  const stream = streaming.stream(question, await streaming.thread('streamed'));
  const types = new Set<string>();
  for await (const { type } of stream) types.add(type);
  equal((await stream.response).approvalRequests.length, 1);
  equal(types.has('text-delta'), true);
}

/** The events of a response, as JSON. */
async function eventsIn(response: Response) {
  const lines = (await response.text()).split('\n').filter((line) => line.startsWith('data: {'));
  const schema = z.looseObject({ type: z.string(), approvalId: z.string().optional() });
  return lines.map((line) => schema.parse(JSON.parse(line.slice('data: '.length))));
}

function post(body: object): Request {
  return new Request('https://app.test/route', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
}

/** What a page sends to begin its thread. */
export function pageRequest(): Request {
  const message = { id: 'm1', role: 'user', parts: [{ type: 'text', text: question }] };
  return post({ id: 'page', message });
}

async function page(): Promise<void> {
  const { agent, ran } = world();
  const handler = createUiHandler({ agent: agent(), authorize: () => ({ principal: 'ann' }) });
  const asked = await eventsIn(await handler(pageRequest()));
  const requestId = asked.find(({ type }) => type === 'tool-approval-request')?.approvalId;
  const answers = [{ type: 'approval-response', requestId, approved: true }];
  const answered = await eventsIn(await handler(post({ id: 'page', answers })));
  equal(answered.at(-1)?.type, 'finish');
  equal(ran, ['Paris']);
}

async function agUi(): Promise<void> {
  const { agent, ran } = world();
  const handler = createAgUiHandler({ agent: agent(), authorize: () => ({ principal: 'ann' }) });
  const input = { threadId: 'ag-ui', protocolVersion: '1.0', tools: [], context: [] };
  const messages = [{ id: 'm1', role: 'user', content: question }];
  const asked = await eventsIn(await handler(post({ ...input, runId: 'r1', messages })));
  const endSchema = z.object({
    outcome: z.object({ interrupts: z.array(z.object({ id: z.string() })).length(1) }),
  });
  const { interrupts } = endSchema.parse(asked.at(-1)).outcome;
  const resume = interrupts.map(({ id }) => ({
    interruptId: id,
    status: 'resolved',
    payload: { approved: true },
  }));
  const done = await eventsIn(await handler(post({ ...input, runId: 'r2', messages: [], resume })));
  equal([done.at(-1)?.type, ran], ['RUN_FINISHED', ['Paris']]);
}

async function middleware(): Promise<void> {
  const { model, tools, toolApproval, store, ran } = world();
  const held = wrapLanguageModel({ model, middleware: holdPoint({ tools, toolApproval, store }) });
  const call = { model: held, providerOptions: { holdpoint: { threadId: 'middleware' } } };
  const asked = await generateText({ ...call, prompt: question });
  const messages = approvalRequestsOf(asked).map((request) => answerMessage(approve(request)));
  equal([messages.length, ran.length], [1, 0]);
  const { text } = await generateText({ ...call, messages });
  equal([text, ran], [booked, ['Paris']]);
}

/** An agent and a tool server, which sign what they send each other. */
async function remoteTools(): Promise<void> {
  const serves = new Map<string, (request: Request) => Promise<Response>>();
  const net: typeof fetch = async (input, init) => {
    const request = new Request(input, init);
    return (await serves.get(new URL(request.url).host)?.(request)) ?? Response.error();
  };
  const signing = { secret: `whsec_${btoa('a secret of the plays, 32 bytes or more')}` };
  const ended = Promise.withResolvers<void>();
  const execute = async ({ city }: { city: string }): Promise<string> => {
    setTimeout(ended.resolve, 0);
    return `${city} is booked`;
  };
  const { handler } = createToolServer({
    baseUrl: 'https://tools.test',
    fetch: net,
    signing,
    tools: { bookFlight: { inputSchema, execute } },
  });
  const tools = {
    bookFlight: remoteTool({
      description: 'Books a flight.',
      inputSchema,
      endpoint: 'https://tools.test/bookFlight',
      callbackUrl: 'https://agent.test/callback',
      secret: 'a secret of the plays, 32 bytes or more',
      fetch: net,
      signing,
    }),
  };
  const agent = world().agent({ tools });
  serves.set('tools.test', handler);
  serves.set('agent.test', createCallbackHandler({ agent, tools }));
  const asked = await agent.run(question, await agent.thread('rap'));
  const answers = asked.approvalRequests.map((request) => request.approve());
  const thread = await agent.thread('rap');
  await agent.run(answers, thread);
  await ended.promise;
  const hasOutcome = async () => (await agent.thread('rap')).calls[0]?.outcome !== undefined;
  while (!(await hasOutcome())) await new Promise((resolve) => setTimeout(resolve, 5));
  equal((await agent.run([], await agent.thread('rap'))).text, booked);
}

async function worker(): Promise<void> {
  const { agent, store, ran } = world();
  const web = agent();
  const thread = await web.thread('worker');
  const { approvalRequests } = await web.run(question, thread);
  await web.respond(
    approvalRequests.map((request) => request.approve()),
    thread,
  );
  equal(ran.length, 0);
  const stopping = new AbortController();
  const background = agent();
  background.on('run-ended', () => stopping.abort());
  await runWorker({ agent: background, store, signal: stopping.signal, pollMs: 10 });
  equal([(await web.thread('worker')).status, ran], ['idle', ['Paris']]);
}

/** A custom agent asks, and a tool that a model asks with is there. */
async function customAgent(): Promise<void> {
  const agent = createCustomAgent({
    name: 'custom',
    tools: { ask: userChoice() },
    step: async () => ({ text: 'Done.' }),
  });
  const { status } = await agent.run('Hello', await agent.thread('custom'));
  equal(status, 'completed');
}

/** The code with which the work fails must be this one. */
async function fails(work: () => Promise<unknown>, code: string): Promise<void> {
  const found = await work().then(
    () => 'no error',
    (error: unknown) => Reflect.get(Object(error), 'code'),
  );
  equal(found, code);
}

const checks: Record<string, Check> = {
  'a cycle with an approval': async () => cycle(),
  'a JSON restore': restoredElsewhere,
  'a stream': streamed,
  ui: page,
  'ag-ui': agUi,
  middleware,
  rap: remoteTools,
  worker,
  'custom-agent': customAgent,
};

/** The names of the plays, in their order. */
export const playNames: readonly string[] = Object.keys(checks);

/** What became of each play, by its name: `passed`, or what went wrong. */
export async function playAll(): Promise<Record<string, string>> {
  return played(checks);
}

/** What became of a cycle in a store. */
export async function playOn(store: ThreadStore): Promise<string> {
  const { result = '' } = await played({ result: async () => cycle(store) });
  return result;
}
