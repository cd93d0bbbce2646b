import { tool } from 'ai';
import { memoryStore, type ThreadStore } from 'holdpoint';
import { createCustomAgent, type CustomStep, type CustomStepInput } from 'holdpoint/custom-agent';
import { questionTool } from 'holdpoint/tools';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { errorCode } from '../support/error-code.ts';
import { pickCases } from '../support/sampling.ts';

type CustomAgentOptions = Parameters<typeof createCustomAgent<unknown>>[0];

const ask = (text = 'Go on?', rest: object = {}): NonNullable<CustomStep['requests']>[string] => ({
  type: 'approval-request',
  text,
  ...rest,
});

/* Functions may return anything. */
const unchecked = z.custom<CustomStep>();
const listProgress = z.object({ list: z.array(z.string()) });

/** An agent whose function returns these one after the other, and the inputs that it got. */
function scripted(
  script: readonly ((input: CustomStepInput) => unknown)[],
  options: Partial<CustomAgentOptions> = {},
) {
  const inputs: CustomStepInput[] = [];
  const agent = createCustomAgent({
    name: 'scripted',
    ...options,
    step: (input) => {
      inputs.push(input);
      return unchecked.parse(script[Math.min(inputs.length, script.length) - 1]?.(input));
    },
  });
  return { agent, inputs };
}

const statusesOf = ({ decisions }: Pick<CustomStepInput, 'decisions'>) =>
  Object.fromEntries(
    [...decisions]
      .map(([key, { status }]) => [key, status] as const)
      .toSorted(([one], [other]) => (one < other ? -1 : 1)),
  );

describe('what the function returns is refused whole, and nothing is recorded, if it is', () => {
  const cyclic: Record<string, unknown> = {};
  cyclic['self'] = cyclic;
  const own = JSON.parse('{"__proto__":{"type":"approval-request","text":"Go on?"}}') as unknown;
  const isFine = { type: 'approval-request', text: 'Go on?' };
  const refused: [string, unknown][] = [
    ['nothing', undefined],
    ['null', null],
    ['a string', 'Done.'],
    ['an unknown field', { txet: 'Done.' }],
    ['a text that is no string', { text: 7 }],
    ['progress that is a function', { progress: () => {} }],
    ['progress with a date', { progress: { at: new Date(0) } }],
    ['progress with a map', { progress: new Map([['a', 1]]) }],
    ['progress with a BigInt', { progress: { n: 1n } }],
    ['progress with NaN', { progress: { n: Number.NaN } }],
    ['progress with a cycle', { progress: cyclic }],
    ['progress that is huge', { progress: 'x'.repeat(300_000) }],
    ['a key that is empty', { requests: { '': isFine } }],
    ['a key that is very long', { requests: { ['k'.repeat(257)]: isFine } }],
    ['a key that is not well-formed', { requests: { '\ud800': isFine } }],
    ['the key __proto__', { requests: own }],
    ['requests with another prototype', { requests: Object.create({ go: isFine }) as unknown }],
    ['a list of requests', { requests: [isFine] }],
    ['a request of an unknown type', { requests: { go: { type: 'approval', text: 'Go on?' } } }],
    ['an approval without a text', { requests: { go: { type: 'approval-request' } } }],
    ['an approval with a blank text', { requests: { go: { ...isFine, text: ' ' } } }],
    ['an approval with fields', { requests: { go: { ...isFine, fields: [] } } }],
    ['an approval with an unknown field', { requests: { go: { ...isFine, approver: 'eve' } } }],
    ['an approval with a key of its own', { requests: { go: { ...isFine, key: 'other' } } }],
    ['an expiry that is no number', { requests: { go: { ...isFine, expiresAfterMs: 'soon' } } }],
    [
      'a question without fields',
      { requests: { go: { type: 'question-request', kind: 'question', text: 'What?' } } },
    ],
    [
      'a question that nobody can answer',
      {
        requests: {
          go: {
            type: 'question-request',
            kind: 'choice',
            text: 'Which?',
            fields: [{ key: 'a', label: 'a', options: [], min: 1, max: 1, freeText: 'never' }],
            allowDismiss: true,
          },
        },
      },
    ],
    ['a call that is no object', { toolCalls: ['book'] }],
    ['a call with an id of its own', { toolCalls: [{ toolCallId: 'c', toolName: 'b', input: 1 }] }],
    ['usage that is no number', { usage: { inputTokens: 'many' } }],
  ];
  test.each(pickCases(refused, 3))('%s', async (_name, returned) => {
    const { agent } = scripted([() => returned]);
    const thread = await agent.thread('t');
    await expect(agent.run('Go', thread)).rejects.toThrow();
    expect(thread.events.filter(({ type }) => type === 'step-finished')).toEqual([]);
    expect(thread.activeRequests).toEqual([]);
    const error = thread.failure?.error ?? '';
    expect(error).not.toBe('');
    expect(error).not.toContain('Cannot read properties');
    expect(error).not.toContain('is not a function');
    /* It can be read again. */
    expect((await agent.restore(JSON.stringify(thread))).status).toBe(thread.status);
  });
});

test('progress may have properties that are undefined: they are absent', async () => {
  const { agent } = scripted([() => ({ progress: { a: 1, b: undefined, c: [{ d: undefined }] } })]);
  const thread = await agent.thread('t');
  await agent.run('Go', thread);
  expect(thread.progress).toStrictEqual({ a: 1, c: [{}] });
});

test('progress that progressSchema rejects is refused before it is saved', async () => {
  const { agent } = scripted([() => ({ progress: { n: 'one' }, requests: { go: ask() } })], {
    progressSchema: z.object({ n: z.number() }),
  });
  const thread = await agent.thread('t');
  await expect(agent.run('Go', thread)).rejects.toThrow('progressSchema');
  expect(thread.activeRequests).toEqual([]);
  expect(thread.progress).toBeUndefined();
});

test('progress that an older version saved, and the schema rejects, fails the run and loses nothing', async () => {
  const store = memoryStore();
  const old = scripted([() => ({ progress: { n: 'one' }, requests: { go: ask() } })], { store });
  const thread = await old.agent.thread('t');
  const { approvalRequests } = await old.agent.run('Go', thread);
  const progressSchema = z.object({ n: z.number() });
  const { agent } = scripted([() => ({ text: 'Done.' })], { store, progressSchema });
  const again = await agent.thread('t');
  const answer = approvalRequests.map((request) => request.approve());
  await expect(agent.run(answer, again)).rejects.toThrow('does not match progressSchema');
  const mended = scripted([(input) => ({ text: JSON.stringify(statusesOf(input)) })], { store });
  const later = await mended.agent.thread('t');
  expect(await mended.agent.run([], later)).toMatchObject({ text: '{"go":"approved"}' });
});

test('what the function does to its input, or later to what it returned, changes nothing', async () => {
  const progress = { list: ['a'] };
  const { agent, inputs } = scripted([
    () => {
      setTimeout(() => progress.list.push('late'), 0);
      return { progress, requests: { go: ask() } };
    },
    (input) => {
      const saved = listProgress.parse(input.progress);
      saved.list.push('mutated');
      Reflect.set(Object(input.progress), 'list', ['mutated']);
      expect(() => Object.assign(input.messages[0] ?? {}, { content: 'forged' })).toThrow();
      expect(() => Object.assign(input.decisions.get('go') ?? {}, { status: 'x' })).toThrow();
      throw new Error('Once.');
    },
    (input) => ({ text: JSON.stringify([input.progress, statusesOf(input)]) }),
  ]);
  const thread = await agent.thread('t');
  const { approvalRequests } = await agent.run('Go', thread);
  const answers = approvalRequests.map((request) => request.reject());
  await expect(agent.run(answers, thread)).rejects.toThrow('Once.');
  const { text } = await agent.run([], thread);
  expect(text).toBe('[{"list":["a"]},{"go":"rejected"}]');
  expect(inputs.map(({ stepNumber }) => stepNumber)).toEqual([0, 1, 1]);
});

test('a function that never settles ends with its time limit or its signal, and is called again', async () => {
  const { agent } = scripted([neverSettles, () => ({ text: 'Done.' })], {
    timeout: { stepMs: 20 },
  });
  const thread = await agent.thread('t');
  await expect(agent.run('Go', thread)).rejects.toThrow('did not end within 20 ms');
  expect(await agent.run([], thread)).toMatchObject({ status: 'completed', text: 'Done.' });
});

const neverSettles = async () => new Promise<CustomStep>(() => {});
const conclude = (input: CustomStepInput) => ({ text: JSON.stringify(statusesOf(input)) });

function isDown(): never {
  throw new Error('Down.');
}

const asking = (rest: object = {}, options: Partial<CustomAgentOptions> = {}) =>
  scripted(
    [() => ({ requests: { go: ask('Go on?', rest), stay: ask('Stay?') } }), conclude],
    options,
  );

describe('how an open request of a step can end', () => {
  test('cancelled by the app', async () => {
    const { agent } = asking();
    const thread = await agent.thread('t');
    const { approvalRequests } = await agent.run('Go', thread);
    expect((await agent.cancel(thread)).decisions).toMatchObject([
      { status: 'cancelled' },
      { status: 'cancelled' },
    ]);
    expect(thread.nextDeadline).toBe(0);
    const late = approvalRequests.map((request) => request.approve());
    expect(await errorCode(agent.run(late, thread))).toBe('request-closed');
    expect(await agent.run([], thread)).toMatchObject({
      status: 'completed',
      text: '{"go":"cancelled","stay":"cancelled"}',
    });
  });

  test('an approval that no step has used is taken back by a person who cancels, and by nobody else', async () => {
    const { agent } = asking();
    const thread = await agent.thread('t');
    const { approvalRequests } = await agent.run('Go', thread);
    await agent.respond(
      approvalRequests.map((request) => request.approve()),
      thread,
    );
    expect(await errorCode(agent.cancel(thread))).toBe('not-allowed');
    await agent.cancel(thread, undefined, { principal: 'ann' });
    expect(await agent.run([], thread)).toMatchObject({
      text: '{"go":"cancelled","stay":"cancelled"}',
    });
  });

  test('an approval that no step has used is held by a stop, and the step that uses it waits until a person releases it', async () => {
    const { agent, inputs } = asking();
    const thread = await agent.thread('t');
    const { approvalRequests } = await agent.run('Go', thread);
    await agent.respond(
      approvalRequests.map((request) => request.approve()),
      thread,
    );
    await agent.stop(thread);
    expect(thread).toMatchObject({ status: 'waiting', nextDeadline: undefined });
    expect(thread.decisions).toMatchObject([{ status: 'approved' }, { status: 'approved' }]);
    expect(await agent.run([], thread)).toMatchObject({ status: 'waiting' });
    expect(await errorCode(agent.run('Something else', thread))).toBe('requests-open');
    expect(inputs).toHaveLength(1);
    expect(await agent.run([], thread, { principal: 'ann', resumeStopped: true })).toMatchObject({
      text: '{"go":"approved","stay":"approved"}',
    });
  });

  test('a message that cancels takes back the approvals which a stop holds', async () => {
    const { agent } = asking();
    const thread = await agent.thread('t');
    const { approvalRequests } = await agent.run('Go', thread);
    await agent.respond(
      approvalRequests.map((request) => request.approve()),
      thread,
    );
    await agent.stop(thread);
    const instead = { whilePending: 'cancel' } as const;
    expect(await errorCode(agent.run('Something else', thread, instead))).toBe('not-allowed');
    expect(
      await agent.run('Something else', thread, { ...instead, principal: 'ann' }),
    ).toMatchObject({ text: '{"go":"cancelled","stay":"cancelled"}' });
  });

  test('a stop while another request is open holds the approvals, and leaves that request, whose answer releases none', async () => {
    const { agent, inputs } = asking();
    const thread = await agent.thread('t');
    const { approvalRequests } = await agent.run('Go', thread);
    const [go, stay] = approvalRequests;
    if (go === undefined || stay === undefined) throw new Error('Two requests were expected.');
    await agent.respond(go.approve(), thread);
    await agent.stop(thread);
    expect(thread.activeRequests.map(({ key }) => key)).toEqual(['stay']);
    expect(await agent.run(stay.approve(), thread)).toMatchObject({ status: 'waiting' });
    expect(inputs).toHaveLength(1);
    expect(await agent.run([], thread, { principal: 'ann', resumeStopped: true })).toMatchObject({
      text: '{"go":"approved","stay":"approved"}',
    });
  });

  test('a stop in the middle of the step that uses the approval holds it', async () => {
    const { agent } = scripted([
      () => ({ requests: { go: ask() } }),
      async ({ abortSignal }) =>
        new Promise((_resolve, reject) => {
          abortSignal.addEventListener('abort', () => reject(new Error('aborted')));
        }),
      conclude,
    ]);
    const thread = await agent.thread('t');
    const { approvalRequests } = await agent.run('Go', thread);
    const running = agent.run(
      approvalRequests.map((request) => request.approve()),
      thread,
    );
    const other = await agent.thread('t');
    while (other.status !== 'running') await agent.respond([], other);
    await agent.stop(other);
    expect(await running).toMatchObject({ status: 'waiting' });
    expect(await agent.run([], other, { principal: 'ann', resumeStopped: true })).toMatchObject({
      text: '{"go":"approved"}',
    });
  });

  test('a cancel in the middle of the step that uses the approval: the step is not recorded, and repeated without it', async () => {
    const used = Promise.withResolvers<void>();
    const release = Promise.withResolvers<void>();
    const { agent } = scripted([
      () => ({ requests: { go: ask() } }),
      async (input) => {
        used.resolve();
        await release.promise;
        return conclude(input);
      },
      conclude,
    ]);
    const thread = await agent.thread('t');
    const { approvalRequests } = await agent.run('Go', thread);
    const running = agent.run(
      approvalRequests.map((request) => request.approve()),
      thread,
    );
    await used.promise;
    const other = await agent.thread('t');
    await agent.cancel(other, undefined, { principal: 'ann' });
    release.resolve();
    expect(await running).toMatchObject({ status: 'completed', text: '{"go":"cancelled"}' });
    expect(thread.messages).toHaveLength(2);
  });

  test('a message with whilePending cancels what is open and keeps what was answered', async () => {
    const { agent, inputs } = asking();
    const thread = await agent.thread('t');
    const { approvalRequests } = await agent.run('Go', thread);
    expect(await errorCode(agent.run('No', thread))).toBe('requests-open');
    await agent.respond(approvalRequests[0]?.reject() ?? [], thread);
    expect(await agent.run('No', thread, { whilePending: 'cancel' })).toMatchObject({
      text: '{"go":"rejected","stay":"cancelled"}',
    });
    expect(inputs[1]?.input).toEqual([{ role: 'user', content: 'No' }]);
  });

  test('expired, with the next step at that time', async () => {
    let now = 0;
    const { agent } = asking({ expiresAfterMs: 50 }, { now: () => now });
    const thread = await agent.thread('t');
    const { approvalRequests } = await agent.run('Go', thread);
    expect(thread.nextDeadline).toBe(50);
    await agent.respond(approvalRequests[1]?.approve() ?? [], thread);
    now = 50;
    expect(await agent.run([], thread, { onlyWhenDue: true })).toMatchObject({
      text: '{"go":"expired","stay":"approved"}',
    });
  });

  test('approvals count if the step is late, and are asked for again if it is later than they may be old', async () => {
    let now = 0;
    const { agent } = asking({ expiresAfterMs: 50, startWithinMs: 70 }, { now: () => now });
    const thread = await agent.thread('t');
    const { approvalRequests } = await agent.run('Go', thread);
    await agent.respond(
      approvalRequests.map((request) => request.approve()),
      thread,
      {
        principal: 'eve',
      },
    );
    now = 70;
    const waiting = await agent.run([], thread);
    expect(waiting).toMatchObject({ status: 'waiting', approvalRequests: [{ key: 'go' }] });
    expect(waiting.decisions.map(({ status }) => status)).toContain('invalidated');
    await agent.respond(waiting.approvalRequests[0]?.approve() ?? [], thread);
    now = 139;
    const response = await agent.run([], thread);
    expect(response).toMatchObject({ text: '{"go":"approved","stay":"approved"}' });
  });

  test('an answer that ends the turn closes the rest of the step, and no step follows', async () => {
    const giveUp = questionTool({
      description: 'Asks whether to give up.',
      inputSchema: z.object({}),
      toQuestion: () => ({
        kind: 'question',
        text: 'Give up?',
        fields: [{ key: 'a', label: 'a', options: [], min: 0, max: 0, freeText: 'only' }],
        allowDismiss: true,
      }),
      toResult: () => ({ status: 'failed', error: 'Given up.', endsTurn: true }),
    });
    const { agent, inputs } = scripted(
      [
        () => ({
          text: 'Well.',
          toolCalls: [{ toolName: 'giveUp', input: {} }],
          requests: { go: ask(), stay: ask() },
        }),
        conclude,
      ],
      { tools: { giveUp } },
    );
    const thread = await agent.thread('t');
    const { userInputRequests, approvalRequests } = await agent.run('Go', thread);
    const question = userInputRequests.find(({ type }) => type === 'question-request');
    if (question === undefined) throw new Error('A question was expected.');
    const { requestId } = question;
    const dismissed = { type: 'question-response', requestId, status: 'dismissed' } as const;
    const [go] = approvalRequests.map((request) => request.approve());
    if (go === undefined) throw new Error('An approval was expected.');
    expect(await agent.run([dismissed, go], thread)).toMatchObject({ status: 'cancelled' });
    expect(thread.activeRequests).toEqual([]);
    expect(inputs).toHaveLength(1);
    expect(thread.nextDeadline).toBeUndefined();
    expect(await agent.run('Now?', thread)).toMatchObject({
      text: '{"go":"cancelled","stay":"cancelled"}',
    });
    expect(inputs[1]?.toolCalls).toMatchObject([{ outcome: { status: 'failed' } }]);
  });
});

const book = (done: string[]) =>
  tool({
    description: 'Books a flight.',
    inputSchema: z.object({ city: z.string() }),
    execute: ({ city }) => {
      done.push(city);
      return { city };
    },
  });

test('a step with a text, calls and requests: all are recorded at once, and the next step waits for all', async () => {
  const done: string[] = [];
  const { agent, inputs } = scripted(
    [
      () => ({
        text: 'On it.',
        toolCalls: [
          { toolName: 'book', input: { city: 'Paris' } },
          { toolName: 'book', input: { city: 7 } },
          { toolName: 'bock', input: {} },
        ],
        requests: { go: ask() },
        progress: 1,
      }),
      () => ({ text: 'Done.' }),
    ],
    { tools: { book: book(done) }, toolApproval: { book: 'user-approval' } },
  );
  const thread = await agent.thread('t');
  const { approvalRequests } = await agent.run('Go', thread);
  expect(approvalRequests.map(({ key, toolCall }) => key ?? toolCall?.toolName)).toEqual([
    'book',
    'go',
  ]);
  const [call, keyed] = approvalRequests;
  if (call === undefined || keyed === undefined) throw new Error('Two were expected.');
  expect(await agent.run(keyed.approve(), thread)).toMatchObject({ status: 'waiting' });
  expect(done).toEqual([]);
  expect(await agent.run(call.approve(), thread)).toMatchObject({ status: 'completed' });
  expect(done).toEqual(['Paris']);
  expect(inputs).toHaveLength(2);
  expect(inputs[1]?.toolCalls).toMatchObject([
    { toolName: 'book', outcome: { status: 'succeeded', output: { city: 'Paris' } } },
    { toolName: 'book', outcome: { status: 'failed' } },
    { toolName: 'bock', outcome: { status: 'failed', error: "Not run: there is no tool 'bock'." } },
  ]);
  expect(inputs[1]).toMatchObject({ progress: 1, input: [] });
  expect(thread.messages.map(({ role }) => role)).toEqual([
    'user',
    'assistant',
    'tool',
    'assistant',
  ]);
});

test('a message that arrives while an approved call waits is the input of the next step', async () => {
  const done: string[] = [];
  const calls = ['Paris', 'Rome'].map((city) => ({ toolName: 'book', input: { city } }));
  const { agent, inputs } = scripted([() => ({ toolCalls: calls }), () => ({ text: 'Done.' })], {
    tools: { book: book(done) },
    toolApproval: { book: 'user-approval' },
  });
  const thread = await agent.thread('t');
  const { approvalRequests } = await agent.run('Go', thread);
  await agent.respond(approvalRequests[0]?.approve() ?? [], thread);
  await agent.run('And Oslo', thread, { whilePending: 'cancel' });
  expect(done).toEqual(['Paris']);
  expect(inputs[1]?.input).toEqual([{ role: 'user', content: 'And Oslo' }]);
});

test('a message that was retracted is not the input of a step', async () => {
  const { agent, inputs } = scripted([isDown, () => ({ text: 'Done.' })]);
  const thread = await agent.thread('t');
  await expect(agent.run('Oops', thread)).rejects.toThrow('Down.');
  await agent.retract(thread);
  await agent.run(
    ['One', 'Two'].map((content) => ({ role: 'user' as const, content })),
    thread,
  );
  expect(inputs[1]?.input.map(({ content }) => content)).toEqual(['One', 'Two']);
});

test('a schema that throws refuses its call, and not the run', async () => {
  const odd = tool({
    description: 'Odd.',
    inputSchema: z.object({}).refine(() => {
      throw new Error('The schema is broken.');
    }),
    execute: () => 'done',
  });
  const { agent, inputs } = scripted(
    [() => ({ toolCalls: [{ toolName: 'odd', input: {} }] }), () => ({ text: 'Done.' })],
    { tools: { odd } },
  );
  await agent.run('Go', await agent.thread('t'));
  expect(inputs[1]?.toolCalls).toMatchObject([
    { outcome: { status: 'failed', error: /The schema is broken/ } },
  ]);
});

test('the same key in two steps is two requests, and a step gets the decision of its own', async () => {
  const { agent, inputs } = scripted([
    () => ({ requests: { go: ask('First?') } }),
    () => ({ requests: { go: ask('Second?') } }),
    () => ({ text: 'Done.' }),
  ]);
  const thread = await agent.thread('t');
  let response = await agent.run('Go', thread);
  const first = response.approvalRequests[0];
  response = await agent.run(first?.approve() ?? [], thread);
  const second = response.approvalRequests[0];
  expect(second?.requestId).not.toBe(first?.requestId);
  response = await agent.run(second?.reject('No.') ?? [], thread);
  expect(inputs.slice(1).map((input) => statusesOf(input))).toEqual([
    { go: 'approved' },
    { go: 'rejected' },
  ]);
  expect(response.decisions.map(({ status }) => status)).toEqual(['approved', 'rejected']);
});

test('a step that continues is followed at once, up to maxSteps of a run', async () => {
  const { agent, inputs } = scripted(
    [({ stepNumber }) => ({ progress: stepNumber, continues: true })],
    {
      maxSteps: 3,
    },
  );
  const thread = await agent.thread('t');
  expect(await agent.run('Go', thread)).toMatchObject({ status: 'max-steps' });
  expect(thread.nextDeadline).toBeUndefined();
  expect(await agent.run([], thread)).toMatchObject({ status: 'max-steps' });
  expect(inputs.map(({ progress }) => progress)).toEqual([undefined, 0, 1, 2, 3, 4]);
});

test('a step that continues and asks waits for the answer', async () => {
  const { agent, inputs } = scripted([
    () => ({ continues: true, requests: { go: ask() } }),
    () => ({ text: 'Done.' }),
  ]);
  const thread = await agent.thread('t');
  const { status, approvalRequests } = await agent.run('Go', thread);
  expect([status, inputs.length]).toEqual(['waiting', 1]);
  expect(
    await agent.run(
      approvalRequests.map((one) => one.approve()),
      thread,
    ),
  ).toMatchObject({
    text: 'Done.',
  });
});

test('a message that is sent again gets the recorded reply with its decisions', async () => {
  const { agent, inputs } = scripted([
    () => ({ requests: { go: ask() } }),
    () => ({ text: 'Done.' }),
    () => ({ text: 'Later.' }),
  ]);
  const thread = await agent.thread('t');
  const first = await agent.run('Go', thread, { messageId: 'm1' });
  const again = await agent.run('Go', thread, { messageId: 'm1' });
  expect(again.approvalRequests).toEqual(first.approvalRequests);
  await agent.run(
    first.approvalRequests.map((one) => one.approve()),
    thread,
  );
  expect(await agent.run('Go', thread, { messageId: 'm1' })).toMatchObject({ text: 'Done.' });
  await agent.run('More', thread, { messageId: 'm2' });
  expect(await agent.run('Go', thread, { messageId: 'm1' })).toMatchObject({
    text: 'Done.',
    decisions: [{ status: 'approved', request: { key: 'go' } }],
  });
  expect(inputs).toHaveLength(3);
});

test('two processes take the same step at once: one of them is recorded', async () => {
  const store = memoryStore();
  const one = scripted(
    [() => ({ progress: { n: 1 }, requests: { go: ask() } }), () => ({ text: 'Done.' })],
    { store },
  );
  const two = scripted([() => ({ text: 'Done.' })], { store });
  const { approvalRequests } = await one.agent.run('Go', await one.agent.thread('t'));
  const answers = approvalRequests.map((request) => request.approve());
  const [here, there] = [await one.agent.thread('t'), await two.agent.thread('t')];
  const ends = await Promise.all([one.agent.run(answers, here), two.agent.run(answers, there)]);
  expect(ends.map(({ status }) => status).toSorted()).toEqual(['completed', 'running']);
  expect(one.inputs.length + two.inputs.length).toBe(2);
});

test('a run that lost its lease in a step records nothing of it', async () => {
  let now = 0;
  const store = memoryStore();
  const held = Promise.withResolvers<CustomStep>();
  const slow = scripted([async () => held.promise], { store, now: () => now, leaseMs: 1_000 });
  const fast = scripted([() => ({ text: 'Fast.', requests: { go: ask('Fast?') } })], {
    store,
    now: () => now,
    leaseMs: 1_000,
  });
  const slowThread = await slow.agent.thread('t');
  const running = slow.agent.run('Go', slowThread);
  while (slow.inputs.length === 0) await new Promise(setImmediate);
  now = 1_000;
  const fastThread = await fast.agent.thread('t');
  await fast.agent.run([], fastThread);
  held.resolve({ text: 'Slow.', requests: { go: ask('Slow?') } });
  expect(await running).toMatchObject({ status: 'running' });
  const thread = await fast.agent.thread('t');
  expect(thread.activeRequests).toMatchObject([{ text: 'Fast?' }]);
  expect(thread.messages).toHaveLength(2);
});

describe('a thread that another kind of agent continues', () => {
  test('a model is asked only when the requests of the step have ended', async () => {
    const { createAgent } = await import('holdpoint');
    const { scriptedModel } = await import('holdpoint/testing');
    const store = memoryStore();
    const { agent } = scripted([() => ({ progress: 1, requests: { go: ask() } })], { store });
    const { approvalRequests } = await agent.run('Go', await agent.thread('t'));
    const { model, prompts } = scriptedModel([{ text: 'From the model.' }]);
    const other = createAgent({ name: 'scripted', store, model });
    const thread = await other.thread('t');
    expect(await other.run([], thread)).toMatchObject({ status: 'waiting' });
    expect(prompts).toHaveLength(0);
    const response = await other.run(
      approvalRequests.map((one) => one.approve()),
      thread,
    );
    expect(response).toMatchObject({
      text: 'From the model.',
      decisions: [{ status: 'approved', request: { key: 'go' } }],
    });
    expect(thread.progress).toBeUndefined();
  });

  test('a function gets the calls of the model once they have ended', async () => {
    const { createAgent } = await import('holdpoint');
    const { scriptedModel } = await import('holdpoint/testing');
    const store = memoryStore();
    const done: string[] = [];
    const shared = {
      tools: { book: book(done) },
      toolApproval: { book: 'user-approval' },
    } as const;
    const input = { city: 'Paris' };
    const { model } = scriptedModel([{ calls: [{ id: 'c1', name: 'book', input }] }]);
    const first = createAgent({ name: 'scripted', store, model, ...shared });
    const { approvalRequests } = await first.run('Go', await first.thread('t'));
    const { agent, inputs } = scripted([() => ({ text: 'Done.' })], { store, ...shared });
    const thread = await agent.thread('t');
    await agent.run(
      approvalRequests.map((one) => one.approve()),
      thread,
    );
    expect(done).toEqual(['Paris']);
    expect(inputs).toMatchObject([
      { stepNumber: 1, progress: undefined, toolCalls: [{ toolName: 'book' }] },
    ]);
  });
});

const opening = (store: ThreadStore) => scripted([() => ({ text: 'Done.' })], { store }).agent;

describe('requestApproval with a key', () => {
  test('asked in two processes at once, it is one request', async () => {
    const store = memoryStore();
    const agents = [opening(store), opening(store)];
    const asked = await Promise.all(
      agents.map(async (agent, index) =>
        agent.requestApproval(await agent.thread('t'), { key: 'stage', text: `Go on? ${index}` }),
      ),
    );
    expect(asked[0]).toEqual(asked[1]);
    const thread = await opening(store).thread('t');
    expect(thread.activeRequests).toHaveLength(1);
    await agents[0]?.respond(asked[0]?.approve() ?? [], await agents[0].thread('t'));
    const again = await agents[1]?.requestApproval(await agents[1].thread('t'), {
      key: 'stage',
      text: 'Go on?',
    });
    expect(again?.requestId).toBe(asked[0]?.requestId);
  });

  test.each(['', 'k'.repeat(257), '\ud800', 7])('a key like %j is refused', async (key) => {
    const agent = opening(memoryStore());
    const thread = await agent.thread('t');
    const asked = { text: 'Go on?', key: '' };
    Reflect.set(asked, 'key', key);
    expect(await errorCode(agent.requestApproval(thread, asked))).toBe('invalid-input');
    expect(thread.events).toEqual([]);
  });

  test('the keys of objects are keys like any other', async () => {
    const agent = opening(memoryStore());
    const thread = await agent.thread('t');
    for (const key of ['__proto__', 'constructor', 'toString']) {
      const first = await agent.requestApproval(thread, { text: 'Go on?', key });
      expect((await agent.requestApproval(thread, { text: 'Go on?', key })).requestId).toBe(
        first.requestId,
      );
    }
    expect(thread.activeRequests).toHaveLength(3);
  });
});

const streamed = async (script: Parameters<typeof scripted>[0]) => {
  const { agent } = scripted(script);
  const thread = await agent.thread('t');
  const stream = agent.stream('Go', thread);
  const texts: string[] = [];
  for await (const event of stream) {
    if (event.type === 'text-delta') texts.push(event.text);
  }
  return { texts, thread, response: await stream.response };
};

describe('what is streamed', () => {
  test('a text that was written is the reply, streamed or not', async () => {
    const script = [
      ({ write }: CustomStepInput) => {
        write('Hel');
        write('lo');
        return {};
      },
    ];
    const { texts, response } = await streamed(script);
    expect(texts).toEqual(['Hel', 'lo']);
    expect(response.text).toBe('Hello');
    const { agent } = scripted(script);
    expect((await agent.run('Go', await agent.thread('t'))).text).toBe('Hello');
  });

  test('the rest of a text is streamed when the step returns it', async () => {
    const { texts, response } = await streamed([
      ({ write }) => {
        write('Hel');
        return { text: 'Hello' };
      },
    ]);
    expect([texts, response.text]).toEqual([['Hel', 'lo'], 'Hello']);
  });

  test('what is written after the end of its step is dropped', async () => {
    const { texts, response } = await streamed([
      ({ write }) => {
        setTimeout(() => write('late'), 0);
        return { text: 'Hello', continues: true };
      },
      async () => {
        await new Promise((resolve) => setTimeout(resolve, 20));
        return { text: 'Bye' };
      },
    ]);
    expect([texts, response.text]).toEqual([['Hello', 'Bye'], 'Bye']);
  });

  test('only a string can be written', async () => {
    const { agent } = scripted([
      ({ write }) => {
        Reflect.apply(write, undefined, [{ text: 'Hello' }]);
        return {};
      },
    ]);
    await expect(agent.run('Go', await agent.thread('t'))).rejects.toThrow('string');
  });
});
