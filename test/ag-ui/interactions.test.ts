import { interactionIdOf, interactionTools, questionTools } from 'holdpoint/tools';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { book, travelTools } from '../support/travel-world.ts';
import { asks, filled, form } from '../tools/asking-tools.ts';
import { confirmation, deploy, source } from '../tools/seed-interactions.ts';
import {
  client,
  custom,
  endOf,
  ofType,
  runInput,
  served,
  site,
  typesOf,
  user,
} from './ag-ui-site.ts';

const tools = { ...travelTools([]), ...questionTools(), ...interactionTools() };
const confirm = { id: 'q1', name: 'ask_confirmation', input: deploy };
const question = { id: 'q1', name: 'ask_question', input: source };

/** A thread that waits for what a step of the model asks, over the wire. */
async function asked(call: { id: string; name: string; input: object }, more: object = {}) {
  const at = site([{ calls: [call] }, { text: 'So be it.' }, { text: 'Next.' }], {
    tools,
    ...more,
  });
  const { events } = await at.post(runInput({ messages: [user('u1')] }));
  const [request] = (await at.agent.thread('t')).activeRequests;
  if (request?.type !== 'question-request') throw new Error('Nothing is asked.');
  const interactionId = interactionIdOf(request);
  /** The next run, with seed 002's answer. */
  const respond = async (interactionResponse: unknown, spelling = 'interactionResponse') =>
    at.post(runInput({ runId: 'r2', forwardedProps: { [spelling]: interactionResponse } }));
  const revision = async () => (await at.agent.thread('t')).revision;
  return { ...at, events, request, interactionId, respond, revision };
}

/** What the model was told as the answer. */
const toldToModel = (at: Awaited<ReturnType<typeof asked>>): string =>
  JSON.stringify(at.played.prompts.at(-1)?.at(-1));

describe('a question on the wire', () => {
  test('S2-11, S2-12, O2-03, O2-04, Z2-8: the run ends saying that input is required, to old readers and new', async () => {
    const { events, request } = await asked(question);
    expect(typesOf(events).slice(-4)).toEqual([
      'STATE_SNAPSHOT',
      'MESSAGES_SNAPSHOT',
      'CUSTOM',
      'RUN_FINISHED',
    ]);
    expect(custom(events, 'run_input_required')).toEqual([{ runId: 'r', threadId: 't' }]);
    expect(custom(events, 'interaction_requested')).toHaveLength(1);
    expect(endOf(events)).toMatchObject({
      type: 'interrupt',
      interrupts: [{ id: request.requestId, reason: 'input_required', message: source.question }],
    });
  });

  test('S2-10, S2-17 to S2-23, S2-33 to S2-38, S2-43, S2-50, O2-01: a confirmation, in camel case and without what is not set', async () => {
    const { events, interactionId } = await asked(confirm);
    expect(custom(events, 'interaction_requested')).toEqual([
      {
        interactionId,
        kind: 'confirmation',
        question: deploy.question,
        options: confirmation.options,
        allowFreeText: true,
        allowCancel: true,
        metadata: { target_tool: 'deploy_agent' },
      },
    ]);
  });

  test('S2-24, S2-28 to S2-31, S2-39 to S2-43: a question, with all that the app adds', async () => {
    const added = interactionTools({
      defaultOptionId: 'bigquery',
      timeoutMs: 60_000,
      continuationId: 'k1',
      sourceNode: 'n1',
      metadata: { some_key: 1 },
    });
    const { events, interactionId } = await asked(question, { tools: { ...tools, ...added } });
    expect(custom(events, 'interaction_requested')).toEqual([
      {
        interactionId,
        kind: 'question',
        question: source.question,
        options: source.options,
        allowFreeText: true,
        allowCancel: true,
        defaultOptionId: 'bigquery',
        timeoutMs: 60_000,
        continuationId: 'k1',
        sourceNode: 'n1',
        metadata: { some_key: 1 },
      },
    ]);
    expect(endOf(events)).toMatchObject({
      interrupts: [
        {
          expiresAt: expect.any(String),
          responseSchema: { properties: { selectedOptionId: { default: 'bigquery' } } },
        },
      ],
    });
  });

  test('S2-27, S2-36, O2-01: a question without options has none on the wire', async () => {
    const { events } = await asked({ ...question, input: { question: 'Which?' } });
    const [value] = custom(events, 'interaction_requested');
    expect(value).not.toHaveProperty('options');
  });

  test('S2-32, Z2-8: what the shape can not say is no interaction: an approval, a form', async () => {
    const at = site([{ calls: [book('c1', 'Paris')] }]);
    const approval = await at.post(runInput({ messages: [user('u1')] }));
    const own = await asked(
      { id: 'q1', name: 'fill', input: {} },
      { tools: { ...tools, fill: asks(form) } },
    );
    for (const { events } of [approval, own]) {
      expect(custom(events, 'interaction_requested')).toEqual([]);
      expect(custom(events, 'run_input_required')).toHaveLength(1);
      expect(endOf(events)).toMatchObject({ type: 'interrupt' });
    }
  });
});

describe('seed 002 answers in forwardedProps', () => {
  test.each(['interactionResponse', 'interaction_response'])(
    'S2-04, S2-13 to S2-15, S2-44 to S2-48, O2-05: as %s, in camel case',
    async (spelling) => {
      const at = await asked(question);
      const { interactionId } = at;
      const said = {
        interactionId,
        selectedOptionId: 'postgres',
        freeText: 'v18',
        cancelled: false,
      };
      const { events } = await at.respond(said, spelling);
      expect(endOf(events)).toEqual({ type: 'success' });
      expect(typesOf(events)).toContain('TEXT_MESSAGE_CONTENT');
      expect(toldToModel(at)).toContain('selected_option_id');
      expect(custom(events, 'interaction_resolved')).toEqual([said]);
    },
  );

  test('S2-44 to S2-48: in snake case', async () => {
    const at = await asked(question);
    const { events } = await at.respond({
      interaction_id: at.interactionId,
      selected_option_id: 'bigquery',
      cancelled: false,
    });
    expect(endOf(events)).toEqual({ type: 'success' });
    expect(toldToModel(at)).toContain('bigquery');
  });

  test('S2-09, O2-02: the result of the call is told as pending, in snake case', async () => {
    const at = await asked(question);
    const { interactionId } = at;
    const { events } = await at.respond({ interactionId, freeText: 'a CSV file' });
    const [result] = ofType(events, 'TOOL_CALL_RESULT');
    const content = typeof result?.content === 'string' ? result.content : '';
    expect(JSON.parse(content)).toEqual({
      status: 'interaction_pending',
      interaction_id: interactionId,
    });
    expect(typesOf(events)).not.toContain('TOOL_CALL_START');
  });

  test('S2-48, S2-52, O2-07: cancelled: the question is left', async () => {
    const at = await asked(confirm);
    const { interactionId } = at;
    const { events } = await at.respond({ interactionId, cancelled: true });
    expect(endOf(events)).toEqual({ type: 'success' });
    expect(custom(events, 'interaction_cancelled')).toEqual([{ interactionId }]);
    expect(toldToModel(at)).toContain('cancelled');
  });

  test('O2-07, S2-40: an answer to a question that expired is refused, and the question is closed', async () => {
    const clock = { now: 1_000 };
    const timed = { ...tools, ...interactionTools({ timeoutMs: 60_000 }) };
    const at = await asked(question, { tools: timed, now: () => clock.now });
    clock.now += 60_000;
    const { interactionId } = at;
    const { events: late } = await at.respond({ interactionId, freeText: 'x' });
    expect(endOf(late)).toBe('request-closed');
    expect((await at.agent.thread('t')).activeRequests).toEqual([]);
  });

  test('O2-07, S2-40: the run that finds a question expired says so, to readers of these events too', async () => {
    const clock = { now: Date.now() };
    const timed = { ...tools, ...interactionTools({ timeoutMs: 60_000 }) };
    const at = site([{ calls: [question] }, { text: 'So be it.' }], {
      tools: timed,
      now: () => clock.now,
    });
    const visitor = client(await served(at.handler));
    const paused = await visitor.say('Connect');
    const [{ interactionId } = {}] = z
      .array(z.object({ interactionId: z.string() }))
      .parse(custom(paused, 'interaction_requested'));
    clock.now += 60_000;
    const events = await visitor.answer(undefined);
    expect(custom(events, 'interaction_expired')).toEqual([{ interactionId }]);
    expect(ofType(events, 'TOOL_CALL_RESULT')).toMatchObject([{ toolCallId: 'q1' }]);
    expect(endOf(events)).toEqual({ type: 'success' });
  });

  test.each<[string, string, (id: string) => unknown]>([
    ['S2-44', 'MISSING_INTERACTION_ID', () => ({ freeText: 'x' })],
    ['S2-44', 'MISSING_INTERACTION_ID', () => 'yes'],
    ['S2-44', 'INTERACTION_MISMATCH', () => ({ interactionId: 'other', freeText: 'x' })],
    [
      'S2-44, prototype',
      'INTERACTION_MISMATCH',
      () => ({ interactionId: '__proto__', freeText: 'x' }),
    ],
    [
      'Z2-1',
      'invalid-answer',
      (interactionId) => ({ interactionId, selectedOptionId: 'no', confirmed: true }),
    ],
    [
      'Z2-1',
      'invalid-answer',
      (interactionId) => ({ interactionId, selectedOptionId: 'no', cancelled: true }),
    ],
    ['Z2-4', 'invalid-answer', (interactionId) => ({ interactionId, selectedOptionId: 'maybe' })],
    ['S2-47', 'invalid-answer', (interactionId) => ({ interactionId, confirmed: 'true' })],
    ['S2-47', 'invalid-answer', (interactionId) => ({ interactionId })],
  ])('%s, O2-06: %s, and the question stays open', async (_row, code, said) => {
    const at = await asked(confirm);
    const before = await at.revision();
    const { events } = await at.respond(said(at.interactionId));
    expect(endOf(events)).toBe(code);
    expect(await at.revision()).toBe(before);
    expect(at.played.requests).toBe(1);
  });

  test('O2-06: NO_PENDING_INTERACTION where nothing is asked', async () => {
    const at = site([{ text: 'Hello.' }]);
    await at.post(runInput({ messages: [user('u1')] }));
    const forwardedProps = { interactionResponse: { interactionId: 'x', freeText: 'y' } };
    const { events } = await at.post(runInput({ runId: 'r2', forwardedProps }));
    expect(events).toMatchObject([
      {
        type: 'RUN_ERROR',
        code: 'NO_PENDING_INTERACTION',
        message: 'interactionResponse does not match any pending interaction for this thread',
      },
    ]);
  });

  test('the same answer again is safe, and another is refused', async () => {
    const at = await asked(question);
    const { interactionId } = at;
    await at.respond({ interactionId, selectedOptionId: 'postgres' });
    const before = await at.revision();
    const { events } = await at.respond({ interactionId, selectedOptionId: 'postgres' });
    expect(endOf(events)).toEqual({ type: 'success' });
    const { events: other } = await at.respond({ interactionId, selectedOptionId: 'bigquery' });
    expect(endOf(other)).toBe('already-answered');
    expect(await at.revision()).toBe(before);
    expect(at.played.requests).toBe(2);
  });

  test('no answer of this shape approves a call, whatever it says', async () => {
    const at = site([{ calls: [book('c1', 'Paris')] }, { text: 'Booked.' }]);
    await at.post(runInput({ messages: [user('u1')] }));
    const [request] = (await at.agent.thread('t')).activeRequests;
    if (request === undefined) throw new Error('Nothing is asked.');
    for (const interactionId of [request.requestId, interactionIdOf(request)]) {
      const interactionResponse = { interactionId, selectedOptionId: 'yes', confirmed: true };
      const { events } = await at.post(runInput({ forwardedProps: { interactionResponse } }));
      expect(endOf(events)).toBe('NO_PENDING_INTERACTION');
    }
    expect(at.world.ran).toEqual([]);
  });

  test('Z2-6: a message while a question is open is refused', async () => {
    const at = await asked(question);
    const before = await at.revision();
    const { events } = await at.post(runInput({ messages: [user('u1'), user('m2', 'Well?')] }));
    expect(endOf(events)).toBe('NO_RESPONSE_FOR_PENDING');
    expect(await at.revision()).toBe(before);
  });

  test('Z2-7: two questions are answered together, one in each way, and not one alone', async () => {
    const calls = [question, { ...confirm, id: 'q2' }];
    const at = site([{ calls }, { text: 'Both.' }], { tools });
    await at.post(runInput({ messages: [user('u1')] }));
    const [first, second] = (await at.agent.thread('t')).activeRequests;
    if (first === undefined || second === undefined) throw new Error('Two are asked.');
    const forwardedProps = {
      interactionResponse: { interactionId: interactionIdOf(first), freeText: 'CSV' },
    };
    const alone = await at.post(runInput({ forwardedProps }));
    expect(endOf(alone.events)).toBe('NO_RESPONSE_FOR_PENDING');
    const resume = [
      { interruptId: second.requestId, status: 'resolved', payload: { approved: true } },
    ];
    const { events } = await at.post(runInput({ forwardedProps, resume }));
    expect(endOf(events)).toEqual({ type: 'success' });
  });
});

/** The answers that the thread has for a question, after a resume with a payload. */
async function resumed(at: Awaited<ReturnType<typeof asked>>, payload: unknown) {
  const resume = [{ interruptId: at.request.requestId, status: 'resolved', payload }];
  const { events } = await at.post(runInput({ runId: 'r2', resume }));
  const answered = (await at.agent.thread('t')).events.find(
    ({ type }) => type === 'request-answered',
  );
  const response = answered?.type === 'request-answered' ? answered.response : undefined;
  return { end: endOf(events), response };
}

/** Whether a payload is what the interrupt's schema describes. */
function conforms(at: Awaited<ReturnType<typeof asked>>, payload: unknown): boolean {
  const end = z
    .object({
      interrupts: z.tuple([z.object({ responseSchema: z.record(z.string(), z.unknown()) })]),
    })
    .parse(endOf(at.events));
  return z.fromJSONSchema(end.interrupts[0].responseSchema).safeParse(payload).success;
}

describe('an answer in resume', () => {
  test.each<[string, typeof confirm | typeof question, unknown, object]>([
    ['S2-19: yes', confirm, { selectedOptionId: 'yes' }, { optionIds: ['yes'] }],
    ['O2-04: approved', confirm, { approved: true }, { optionIds: ['yes'] }],
    ['O2-04: not approved', confirm, { approved: false }, { optionIds: ['no'] }],
    [
      'Z2-2: feedback alone is no yes',
      confirm,
      { freeText: 'yes' },
      { optionIds: [], text: 'yes' },
    ],
    [
      'S2-21: no, with what to change',
      confirm,
      { selectedOptionId: 'no_with_feedback', freeText: 'smaller' },
      { optionIds: ['no_with_feedback'], text: 'smaller' },
    ],
    ['S2-45: an option', question, { selectedOptionId: 'bigquery' }, { optionIds: ['bigquery'] }],
    ['S2-25, S2-46: text', question, { freeText: 'CSV' }, { optionIds: [], text: 'CSV' }],
  ])('%s', async (_row, call, payload, answer) => {
    const at = await asked(call);
    expect(conforms(at, payload)).toBe(true);
    const { end, response } = await resumed(at, payload);
    expect(end).toEqual({ type: 'success' });
    expect(response).toMatchObject({ status: 'answered', answers: [answer] });
  });

  test.each<[string, typeof confirm | typeof question, unknown]>([
    ['Z2-4: an option that was not offered', question, { selectedOptionId: 'oracle' }],
    ['X-06: one from the prototype', question, { selectedOptionId: 'constructor' }],
    ['nothing', question, {}],
    ['no payload', question, undefined],
    ['another key', question, { selectedOptionId: 'postgres', interactionId: 'x' }],
    ['a list', question, ['postgres']],
    ['approved as text', confirm, { approved: 'true' }],
    ['Z2-1: approved, and no', confirm, { approved: true, selectedOptionId: 'no' }],
  ])('%s is refused, and the question stays open', async (_what, call, payload) => {
    const at = await asked(call);
    const before = await at.revision();
    expect((await resumed(at, payload)).end).toBe('invalid-answer');
    expect(await at.revision()).toBe(before);
  });

  test('a form has a property for each field, of the simplest kind that holds its answer', async () => {
    const at = await asked(
      { id: 'q1', name: 'fill', input: {} },
      { tools: { ...tools, fill: asks(form) } },
    );
    const payload = {
      size: 'm',
      extras: ['c', 'a'],
      name: 'Ann',
      note: { selectedOptionIds: ['x'], freeText: 'cold' },
    };
    expect(conforms(at, payload)).toBe(true);
    expect(conforms(at, { ...payload, size: 'huge' })).toBe(false);
    expect((await resumed(at, payload)).response).toMatchObject({ answers: filled });
  });

  test.each<[string, object]>([
    ['a field that was not asked', { colour: 'red' }],
    ['a field from the prototype', JSON.parse('{"__proto__":"x"}')],
    ['a text where a list is asked', { extras: 'a' }],
    ['a list where one is asked', { size: ['m'] }],
    ['too many', { extras: ['a', 'b', 'c'] }],
    ['one twice', { extras: ['a', 'a'] }],
  ])('a form with %s is refused, and stays open', async (_what, fault) => {
    const at = await asked(
      { id: 'q1', name: 'fill', input: {} },
      { tools: { ...tools, fill: asks(form) } },
    );
    const good = { size: 'm', extras: ['c'], name: 'Ann', note: { freeText: 'cold' } };
    const payload = Object.assign(Object.create(null), good, fault);
    for (const [key, value] of Object.entries(fault)) {
      Object.defineProperty(payload, key, { value, enumerable: true, configurable: true });
    }
    expect((await resumed(at, payload)).end).toBe('invalid-answer');
    expect((await at.agent.thread('t')).activeRequests).toHaveLength(1);
  });

  test('a form that may not be left is asked again when it is cancelled', async () => {
    const at = await asked(
      { id: 'q1', name: 'fill', input: {} },
      { tools: { ...tools, fill: asks(form) } },
    );
    const resume = [{ interruptId: at.request.requestId, status: 'cancelled' }];
    const { events } = await at.post(runInput({ resume }));
    expect(endOf(events)).toMatchObject({ interrupts: [{ id: at.request.requestId }] });
  });

  test('seed 001: questions of several fields, one of them multiple, answered by their headers', async () => {
    const options = ['Red', 'Blue'].map((label) => ({ label, description: `The ${label} one` }));
    const questions = [
      { question: 'Which colour?', header: 'Colour', options },
      { question: 'Which sizes?', header: '__proto__', options, multiSelect: true },
    ];
    const at = await asked({ id: 'q1', name: 'AskUserQuestion', input: { questions } });
    const payload: unknown = JSON.parse('{"Colour":"Red","__proto__":["Red","Blue"]}');
    const { response } = await resumed(at, payload);
    expect(response).toMatchObject({
      answers: [
        { key: 'Colour', optionIds: ['Red'] },
        { key: '__proto__', optionIds: ['Red', 'Blue'] },
      ],
    });
  });

  test('seed 001: Interrupted ends the turn, and the run is cancelled', async () => {
    const options = ['Red', 'Blue'].map((label) => ({ label, description: '' }));
    const questions = [{ question: 'Which colour?', header: 'Colour', options }];
    const at = await asked({ id: 'q1', name: 'AskUserQuestion', input: { questions } });
    const visitor = client(await served(at.handler));
    await visitor.run();
    expect(endOf(await visitor.answer(undefined))).toEqual({ type: 'cancelled' });
    expect(endOf(await visitor.say('Go on'))).toEqual({ type: 'success' });
  });
});

test('text of a model is shown inert in an interrupt, line by line', async () => {
  const hidden = 'Pay \u202e\u0007 now\nplease';
  const options = [{ id: 'a', label: 'A\u200b', description: 'B\u202e' }];
  const { events } = await asked({ ...question, input: { question: hidden, options } });
  expect(endOf(events)).toMatchObject({
    interrupts: [
      {
        message: 'Pay \\u{202e}\\u{7} now\nplease',
        responseSchema: {
          properties: {
            selectedOptionId: {
              oneOf: [{ const: 'a', title: 'A\\u{200b}', description: 'B\\u{202e}' }],
            },
          },
        },
        metadata: { holdpoint: { text: hidden } },
      },
    ],
  });
});
