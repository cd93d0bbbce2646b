import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createNoopMeter, diag, SpanStatusCode, trace } from '@opentelemetry/api';
import { AlwaysOffSampler } from '@opentelemetry/sdk-trace';
import { tool } from 'ai';
import {
  type AgentOptions,
  approve,
  memoryStore,
  reject,
  type ThreadStore,
  type UserInputRequestContent,
  type UserInputResponseContent,
} from 'holdpoint';
import type { traceHoldpoint } from 'holdpoint/otel';
import { sqliteStore } from 'holdpoint/stores/sqlite';
import { askConfirmation } from 'holdpoint/tools';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { scriptedModel } from '../support/scripted-model.ts';
import {
  book,
  cityInput,
  look,
  memoryWorld,
  travelTools,
  travelWorld,
} from '../support/travel-world.ts';
import { type ExportedSpan, exporting } from './exported.ts';
import { lostCall } from './lost-call.ts';
import { spanOf, traces } from './traces.ts';
import { traced, tracingTests } from './tracing.ts';

const script = [{ calls: [book('c1', 'Paris')] }, { text: 'Done.' }];

tracingTests();
afterEach(() => diag.disable());

/** Asks, answers yes, and runs to the end. */
async function approveAll(options: Partial<AgentOptions> = {}) {
  const agent = memoryWorld(script).agent(options);
  const { approvalRequests, thread } = await agent.run('Book', await agent.thread('t'));
  return agent.run(
    approvalRequests.map((request) => request.approve()),
    thread,
    {
      principal: { subject: 'ann' },
      channel: 'web',
    },
  );
}

function quiet(): void {}

function trap(): never {
  throw new Error('It is a trap.');
}

/** A tool that does this. */
function paying(result: () => unknown) {
  return tool({ description: 'pay', inputSchema: cityInput, execute: async () => result() });
}

/** The answer to a request, with a text wherever it can have one: no to `book`, else yes. */
function answerTo(request: UserInputRequestContent, text: string): UserInputResponseContent {
  if (request.type === 'approval-request') {
    const isBook = request.toolCall?.toolName === 'book';
    return isBook ? reject(request, text) : approve(request, { reason: text });
  }
  const { requestId, fields } = request;
  const answers = [{ key: fields[0]?.key ?? '', optionIds: ['no_with_feedback'], text }];
  return { type: 'question-response', requestId, status: 'answered', answers };
}

test('a request is linked to by its decision and the decision by the execution, days later in another process', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdpoint-'));
  try {
    const path = join(folder, 'threads.sqlite');
    const here = traced();
    using store = sqliteStore(path);
    const agent = travelWorld(scriptedModel(script), () => store).agent();
    await agent.run('Book', await agent.thread('t'));
    /* All that is open here is over before anybody has answered. */
    const run = ['invoke_agent', '  chat scripted', '  approval_request book'];
    expect(traces(here.spans())).toEqual([run]);
    const request = spanOf(here.spans(), 'approval_request book');

    const program = join(import.meta.dirname, 'traced-process.ts');
    const printed = execFileSync(process.execPath, [
      '--conditions=holdpoint-source',
      program,
      path,
    ]);
    const there: ExportedSpan[] = JSON.parse(printed.toString());
    const decision = spanOf(there, 'approval_decision book');
    const execution = spanOf(there, 'execute_tool book');
    const airline = spanOf(there, 'airline');
    const wait = spanOf(there, 'approval_wait book');
    expect(traces(there)).toEqual([
      ['approval_wait book'],
      [
        'invoke_agent',
        '  approval_decision book',
        '  execute_tool book',
        '    airline',
        '  chat scripted',
      ],
    ]);
    expect(decision.links).toEqual([{ traceId: request.traceId, spanId: request.spanId }]);
    /* It joins the trace of the run that asked. */
    expect([wait.traceId, wait.parentSpanId]).toEqual([request.traceId, request.spanId]);
    expect(execution.links).toEqual([{ traceId: decision.traceId, spanId: decision.spanId }]);
    expect(airline.traceId).toBe(decision.traceId);
    expect(decision.traceId).not.toBe(request.traceId);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('spans say what happened to which call in the GenAI words, and what those have not in words of ours', async () => {
  const { spans } = traced();
  const { thread } = await approveAll();
  const opened = thread.events.find((event) => event.type === 'request-opened');
  const ids = {
    'gen_ai.conversation.id': 't',
    'gen_ai.tool.name': 'book',
    'gen_ai.tool.call.id': 'c1',
    'holdpoint.request.id': opened?.request.requestId,
  };
  const ofCall = spans().filter(({ attributes }) => 'gen_ai.tool.name' in attributes);
  expect(ofCall.map(({ name, attributes }) => [name, attributes])).toEqual([
    ['approval_request book', ids],
    ['approval_wait book', { ...ids, 'holdpoint.outcome': 'approved', 'holdpoint.channel': 'web' }],
    [
      'approval_decision book',
      {
        ...ids,
        'holdpoint.decision': 'approved',
        'holdpoint.channel': 'web',
        'holdpoint.wait': expect.any(Number),
      },
    ],
    [
      'execute_tool book',
      {
        ...ids,
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.type': 'function',
        'gen_ai.tool.description': 'book a flight',
        'holdpoint.attempt': 1,
      },
    ],
  ]);
  expect(new Set(spans().map(({ status }) => status))).toEqual(new Set([0]));
});

test('spans are within what the app traces, and a tool that returns at once leaves nothing active behind', async () => {
  const { tracer, spans } = traced();
  const active: unknown[] = [];
  const atOnce = tool({
    description: 'look',
    inputSchema: cityInput,
    execute: ({ city }) => {
      active.push(trace.getActiveSpan()?.spanContext().spanId);
      return city;
    },
  });
  const agent = memoryWorld([
    { calls: [look('c1', 'Rome'), look('c2', 'Bonn')] },
    { text: 'Done.' },
  ]).agent({ tools: { look: atOnce }, toolApproval: {} });
  const thread = await agent.thread('t');
  await tracer.startActiveSpan('handle', async (handle) => {
    await agent.run('Look', thread);
    expect(trace.getActiveSpan()).toBe(handle);
    handle.end();
  });
  const run = spanOf(spans(), 'invoke_agent');
  const executions = spans().filter(({ name }) => name === 'execute_tool look');
  expect(run.parentSpanId).toBe(spanOf(spans(), 'handle').spanId);
  expect(executions.map(({ parentSpanId }) => parentSpanId)).toEqual([run.spanId, run.spanId]);
  expect(active).toEqual(executions.map(({ spanId }) => spanId));
  expect(trace.getActiveSpan()).toBeUndefined();
});

describe('what people, models and tools wrote', () => {
  const secret = 'hunter2';
  /** Plants the secret wherever there is room for it, and gives all that was exported. */
  async function leaky(options: NonNullable<Parameters<typeof traceHoldpoint>[0]>) {
    const { raw } = traced(options);
    const calls = [
      { id: 'c1', name: 'pay', input: { city: secret } },
      { id: 'c2', name: 'broken', input: { city: secret } },
      { id: 'c3', name: 'confirm', input: { question: secret } },
      book('c4', secret),
    ];
    const agent = memoryWorld([{ calls }, { text: secret }]).agent({
      tools: {
        ...travelTools([]),
        pay: paying(() => ({ receipt: secret })),
        broken: paying(() => {
          throw new TypeError(secret, { cause: secret });
        }),
        confirm: askConfirmation({ metadata: { note: secret } }),
      },
      toolApproval: {
        pay: { type: 'user-approval', reason: secret },
        broken: 'user-approval',
        book: 'user-approval',
      },
    });
    const { userInputRequests, thread } = await agent.run(secret, await agent.thread('t'));
    const own = await agent.requestApproval(thread, { text: secret, reason: secret });
    const answers = userInputRequests.map((request) => answerTo(request, secret));
    await agent.run([...answers, own.reject(secret)], thread, { principal: { subject: secret } });
    const spans = raw().map((span) => ({
      name: span.name,
      attributes: span.attributes,
      status: span.status,
      events: span.events,
      links: span.links,
    }));
    expect(spans.map(({ name }) => name).toSorted()).toEqual([
      'approval_decision',
      'approval_decision book',
      'approval_decision broken',
      'approval_decision pay',
      'approval_request',
      'approval_request book',
      'approval_request broken',
      'approval_request pay',
      'approval_wait',
      'approval_wait book',
      'approval_wait broken',
      'approval_wait pay',
      'chat scripted',
      'chat scripted',
      'execute_tool broken',
      'execute_tool pay',
      'invoke_agent',
      'invoke_agent',
      'question_answer confirm',
      'question_request confirm',
      'question_wait confirm',
    ]);
    return spans;
  }

  test('is in no span', async () => {
    const spans = await leaky({});
    expect(JSON.stringify(spans)).not.toContain(secret);
    expect(spans.find(({ name }) => name === 'execute_tool broken')).toMatchObject({
      status: { code: SpanStatusCode.ERROR },
      attributes: { 'error.type': 'TypeError' },
    });
    const failed = spans.filter(({ status }) => status.code === SpanStatusCode.ERROR);
    expect(failed.map(({ name }) => name)).toEqual(['execute_tool broken']);
  });

  test.each([
    [{ recordInputs: true }, ['gen_ai.tool.call.arguments']],
    [{ recordOutputs: true }, ['gen_ai.tool.call.result']],
    [{ recordPrincipals: true }, ['holdpoint.principal']],
  ])('is there where it was asked for with %j, and nothing else', async (options, expected) => {
    const spans = await leaky(options);
    const leaking = spans.flatMap(({ attributes, ...rest }) => {
      expect(JSON.stringify(rest)).not.toContain(secret);
      return Object.entries(attributes).filter(([, value]) =>
        JSON.stringify(value).includes(secret),
      );
    });
    expect([...new Set(leaking.map(([name]) => name))]).toEqual(expected);
  });
});

test('the span of a run says who caused it, and through which channel, where principals are recorded', async () => {
  for (const [options, principal] of [
    [{ recordPrincipals: true }, '{"subject":"ann"}'],
    [{}, undefined],
  ] as const) {
    const { spans, stop } = traced(options);
    await approveAll();
    const runs = spans().filter(({ name }) => name.startsWith('invoke_agent'));
    expect(
      runs.map(({ attributes }) => [
        attributes['holdpoint.channel'],
        attributes['holdpoint.principal'],
      ]),
    ).toEqual([
      [undefined, undefined],
      ['web', principal],
    ]);
    stop();
  }
});

test('an indeterminate call is a span with an error, linked to its approval', async () => {
  const first = traced();
  await using lost = await lostCall();
  const decision = spanOf(first.spans(), 'approval_decision book');
  first.stop();
  const { spans } = traced();
  await lost.agent.run([], await lost.open());
  expect(spanOf(spans(), 'indeterminate_call book')).toMatchObject({
    status: SpanStatusCode.ERROR,
    attributes: { 'error.type': 'indeterminate', 'gen_ai.tool.call.id': 'c1' },
    links: [{ spanId: decision.spanId }],
  });
});

test('an execution is linked to its request if nothing was traced when it was approved', async () => {
  const first = traced();
  const agent = memoryWorld(script).agent();
  const { approvalRequests, thread } = await agent.run('Book', await agent.thread('t'));
  const asked = spanOf(first.spans(), 'approval_request book');
  first.stop();
  await agent.respond(
    approvalRequests.map((request) => request.approve()),
    thread,
  );
  const { spans } = traced();
  await agent.run([], thread);
  const { traceId, spanId } = asked;
  expect(spanOf(spans(), 'execute_tool book').links).toEqual([{ traceId, spanId }]);
});

test('a mistake in a setting is a span with an error, and without values', async () => {
  vi.spyOn(console, 'warn').mockReturnValue();
  const { spans } = traced();
  const agent = memoryWorld([{ calls: [book('c1', 'Paris')] }]).agent({
    name: 'travel',
    toolApproval: {
      book: () => {
        throw new Error('secret');
      },
    },
  });
  await agent.run('Book', await agent.thread('t'));
  vi.restoreAllMocks();
  const span = spanOf(spans(), 'setting_failed toolApproval.book');
  expect(span).toMatchObject({
    status: SpanStatusCode.ERROR,
    attributes: {
      'error.type': 'error',
      'gen_ai.agent.name': 'travel',
      'gen_ai.tool.call.id': 'c1',
      'holdpoint.setting': 'toolApproval.book',
    },
  });
  expect(JSON.stringify(span.attributes)).not.toContain('secret');
});

test('a request that the store refused is a span with an error', async () => {
  const { spans } = traced();
  const full: ThreadStore = {
    ...memoryStore(),
    append: async () => Promise.reject(new RangeError('disk full')),
  };
  const world = travelWorld(scriptedModel([]), () => full);
  const agent = world.agent();
  const asked = agent.requestApproval(await agent.thread('t'), { text: 'Publish?' });
  await expect(asked).rejects.toThrow('disk full');
  expect(spans()).toMatchObject([
    {
      name: 'approval_request',
      status: SpanStatusCode.ERROR,
      attributes: { 'error.type': 'RangeError' },
    },
  ]);
});

test('how long a decision took is recorded in seconds, of approvals alone', async () => {
  const recorded: unknown[] = [];
  const meter = createNoopMeter();
  meter.createHistogram = (name, options) => ({
    record: (value, attributes) => recorded.push([name, options?.unit, value, attributes]),
  });
  traced({ meter });
  const clock = { now: 1_000 };
  const calls = [book('c1', 'Paris'), { id: 'c2', name: 'confirm', input: { question: 'Sure?' } }];
  const agent = memoryWorld([{ calls }, { text: 'Done.' }]).agent({
    tools: { ...travelTools([]), confirm: askConfirmation() },
    now: () => clock.now,
  });
  const { userInputRequests, thread } = await agent.run('Book', await agent.thread('t'));
  clock.now += 90_000;
  const answers = userInputRequests.map((request) =>
    request.type === 'approval-request'
      ? request.reject()
      : ({ type: 'question-response', requestId: request.requestId, status: 'dismissed' } as const),
  );
  await agent.respond(answers, thread);
  const attributes = { 'holdpoint.decision': 'rejected', 'gen_ai.tool.name': 'book' };
  expect(recorded).toEqual([['holdpoint.approval.wait', 's', 90, attributes]]);
});

test('nothing is exported or stored without tracing, nor after it has stopped', async () => {
  const { spans, stop } = traced();
  stop();
  const { thread } = await approveAll();
  expect(spans()).toEqual([]);
  expect(JSON.stringify(thread)).not.toContain('traceparent');
});

test('a trace that is not sampled keeps its place in the thread; without an SDK there is none to keep', async () => {
  const off = traced({ tracer: exporting(new AlwaysOffSampler()).tracer });
  const { thread } = await approveAll();
  expect(JSON.stringify(thread)).toMatch(/"traceparent":"00-[\da-f]{32}-[\da-f]{16}-00"/);
  off.stop();
  traced({ tracer: trace.getTracer('none') });
  const untraced = await approveAll();
  expect(JSON.stringify(untraced.thread)).not.toContain('traceparent');
});

test('neither a tracer that throws nor a logger that throws stops anything', async () => {
  const told: unknown[] = [];
  const error = (text: string): never => {
    told.push(text);
    throw new Error('broken logger');
  };
  diag.setLogger({ error, warn: quiet, info: quiet, debug: quiet, verbose: quiet });
  const broken = Object.assign(exporting().tracer, {
    startSpan() {
      throw new Error('broken tracer');
    },
  });
  traced({ tracer: broken });
  expect(await approveAll()).toMatchObject({ status: 'completed', text: 'Done.' });
  expect(told).toContain('holdpoint/otel could not trace a message.');
});

test('a meter that throws, and a tool that throws an error whose getters throw, leave no span open', async () => {
  const meter = Object.assign(createNoopMeter(), {
    createHistogram: () => ({
      record() {
        throw new Error('broken meter');
      },
    }),
  });
  const { spans } = traced({ meter });
  const thrown = new Proxy({}, { getPrototypeOf: trap, get: trap });
  const response = await approveAll({
    tools: {
      book: paying(() => {
        throw thrown;
      }),
    },
  });
  expect(response.text).toBe('Done.');
  expect(spanOf(spans(), 'approval_decision book')).toBeDefined();
  expect(spanOf(spans(), 'execute_tool book').attributes['error.type']).toBe('_OTHER');
});
