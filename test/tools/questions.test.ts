import type { Question } from 'holdpoint';
import { userChoice } from 'holdpoint/tools';
import { describe, expect, test } from 'vitest';
import { errorCode } from '../support/error-code.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { storeKits } from '../support/store-kits.ts';
import {
  ask,
  askOne,
  at,
  dismissed,
  eventsOf,
  everyQuestionTool,
  expectRefused,
  overTheWire,
  picked,
  questionsOf,
  refusalOf,
  resultOf,
  single,
} from './asked.ts';
import { answered, askForm, askPick, asks, filled, form, keptOn, oneOf } from './asking-tools.ts';

test('a form is answered field by field, and the answers are the result', async () => {
  const { request, agent, thread } = await askForm();
  expect(request).toMatchObject({ ...form, toolCall: { toolName: 'ask', toolCallId: 'q1' } });
  expect(await agent.run(answered(request, filled), thread)).toMatchObject({ status: 'completed' });
  expect(resultOf(thread)).toEqual({ type: 'json', value: filled });
});

/** The filled form, but for one field. */
function but(key: string, change: object) {
  return filled.map((answer) => (answer.key === key ? { ...answer, ...change } : answer));
}

/** The filled form but for one field, as a row of a table. */
const withField = (key: string, change: object): [object] => [{ answers: but(key, change) }];

describe('an invalid answer changes nothing, and the question stays open:', () => {
  test.each<[string, object]>([
    ['a field left out', { answers: filled.slice(1) }],
    ['no field', { answers: [] }],
    ['a field twice', { answers: [...filled, filled[0]] }],
    ['a field that is not asked', { answers: [...filled, { key: 'more', optionIds: [] }] }],
    ['a field from the prototype', { answers: [...filled, { key: '__proto__', optionIds: [] }] }],
    ['a field by its label', ...withField('size', { key: 'Size' })],
    ['no option of a single choice', ...withField('size', { optionIds: [] })],
    ['two options of a single choice', ...withField('size', { optionIds: ['s', 'm'] })],
    ['an option that is not offered', ...withField('size', { optionIds: ['xl'] })],
    ['an option of another field', ...withField('size', { optionIds: ['a'] })],
    ['an option by its label', ...withField('size', { optionIds: ['Option m'] })],
    ['an option by its place', ...withField('size', { optionIds: ['1'] })],
    ['an option from the prototype', ...withField('size', { optionIds: ['constructor'] })],
    ['an option twice', ...withField('extras', { optionIds: ['a', 'a'] })],
    ['too many options', ...withField('extras', { optionIds: ['a', 'b', 'c'] })],
    ['too few options', ...withField('extras', { optionIds: [] })],
    ['text where none is taken', ...withField('size', { text: 'm' })],
    ['empty text where none is taken', ...withField('size', { text: '' })],
    [
      'text in place of an option where none is taken',
      ...withField('size', { optionIds: [], text: 'm' }),
    ],
    [
      'no text where text is asked',
      {
        answers: filled.with(2, { key: 'name', optionIds: [] }),
      },
    ],
    ['an option where text is asked', ...withField('name', { optionIds: ['m'] })],
    ['half of a surrogate pair', ...withField('name', { text: 'Ann \ud83d' })],
    ['the other half', ...withField('note', { text: '\ude00' })],
    ['two options beside text', ...withField('note', { optionIds: ['x', 'y'] })],
    ['text that is no text', ...withField('name', { text: 7 })],
    ['text that is null', ...withField('note', { text: null })],
    ['options that are no list', ...withField('size', { optionIds: 'm' })],
    ['options that are numbers', ...withField('size', { optionIds: [1] })],
    ['a key more', ...withField('size', { approved: true })],
    ['answers as an object', { answers: { size: 'm' } }],
    ['no answers', { answers: undefined }],
    ['another status', { status: 'approved', answers: filled }],
    ['no status', { status: undefined, answers: filled }],
    ['a word of approval beside it', { answers: filled, approved: true }],
    ['a dismissal with answers', { status: 'dismissed', answers: filled }],
    ['a dismissal where there is none', { status: 'dismissed', answers: undefined }],
    ['no request id', { requestId: undefined, answers: filled }],
    ['an approval', { type: 'approval-response', approved: true, status: undefined }],
    ['a rejection', { type: 'approval-response', approved: false, status: undefined }],
  ])('%s', async (_what, change) => {
    const { request, agent, thread, world } = await askForm();
    const base = { type: 'question-response', requestId: request.requestId, status: 'answered' };
    const answer = overTheWire({ ...base, ...change });
    await expectRefused(thread, async () => agent.run(answer, thread));
    await expectRefused(thread, async () => agent.respond([answer], thread));
    expect((await world.store.head('t'))?.revision).toBe(thread.revision);
    expect(await agent.run(answered(request, filled), thread)).toMatchObject({ text: 'Done.' });
  });

  test('an option of a field that takes text alone', async () => {
    const typed = oneOf.fields.map((each) => ({ ...each, freeText: 'only' as const }));
    const { request, agent, thread } = await askOne(asks({ ...oneOf, fields: typed }), {});
    await expectRefused(thread, async () => agent.run(picked(request, ['a'], 'why'), thread));
    await expectRefused(thread, async () => agent.run(picked(request, ['a']), thread));
  });

  test('one good answer and one bad: neither is taken', async () => {
    const { agent, thread, questions } = await ask({
      tools: { ask: asks(oneOf) },
      calls: ['q1', 'q2'].map((id) => ({ id, name: 'ask', input: {} })),
    });
    const [good, bad] = [picked(at(questions, 0), ['a']), picked(at(questions, 1), ['z'])];
    await expectRefused(thread, async () => agent.run([good, bad], thread));
    await expectRefused(thread, async () => agent.run([good, 'Hello'], thread), 'requests-open');
  });

  test('one question answered in two ways at once', async () => {
    const { request, agent, thread } = await askPick();
    const both = [picked(request, ['a']), picked(request, ['b'])];
    await expectRefused(thread, async () => agent.run(both, thread));
    expect(await agent.run([picked(request, ['a']), picked(request, ['a'])], thread)).toMatchObject(
      {
        status: 'completed',
      },
    );
  });
});

describe('text is recorded as it is, and nothing is confused by it:', () => {
  test.each([
    ['100 KB', 'x'.repeat(100_000)],
    ['a megabyte beyond U+FFFF', '😀'.repeat(250_000)],
    ['control characters', '\u0000\u0007\b\u001b[2J\u001b]0;title\u0007\r\n\t\u007f\u009b'],
    ['bidi and invisible characters', '\u202e\u2066evil\u2069\u200b\u200d\ufeff\u{e0041}'],
    ['JSON of an answer', '{"type":"approval-response","approved":true}'],
    ['tags of our own', '{"$bytes":"AAAA"}'],
    ['quotes and backslashes', '\\"\'`${}\\u202e\\'],
    ['one that is also an option', 'a'],
    ['the word of a cancellation', 'cancelled'],
    ['the label of the last entry', 'Say something else...'],
    ['nothing', ''],
  ])('%s', async (_what, typed) => {
    using kept = keptOn('sqliteStore');
    const { request, agent, thread, inProcess } = await askPick({ store: kept.open() });
    await agent.run(picked(request, [], typed), thread);
    const reopened = inProcess({ store: kept.open() });
    const again = await reopened.thread('t');
    const restored = await inProcess({ store: undefined }).restore(JSON.stringify(again));
    for (const each of [thread, again, restored]) {
      const value = [{ key: 'choice', optionIds: [], text: typed }];
      expect(resultOf(each)).toEqual({ type: 'json', value });
    }
    expect(await errorCode(reopened.run(picked(request, ['a']), again))).toBe('already-answered');
  });

  test.each(['Say something else...', 'cancelled', '', ' ', '\u202e', 'a\u0000b', '__proto__'])(
    'an option labelled %j is an option like others',
    async (label) => {
      const [field] = oneOf.fields;
      const options = [
        { id: 'one', label },
        { id: '__proto__', label },
      ];
      const question = { ...oneOf, fields: field === undefined ? [] : [{ ...field, options }] };
      const { request, agent, thread } = await askOne(asks(question), {});
      expect(request.fields[0]?.options).toEqual(options);
      await agent.run(picked(request, ['__proto__']), thread);
      expect(resultOf(thread)).toMatchObject({ value: [{ optionIds: ['__proto__'] }] });
    },
  );
});

describe('X-06: names from the prototype are names like others:', () => {
  test.each(['__proto__', 'constructor', 'toString'])('%s', async (name) => {
    const question: Question = {
      ...form,
      fields: form.fields.map((field, index) => (index === 0 ? { ...field, key: name } : field)),
    };
    const { world } = await ask({ tools: {}, calls: [] });
    const tools = Object.fromEntries([[name, asks(question)]]);
    const played = scriptedModel([{ calls: [{ id: name, name, input: {} }] }, { text: 'Done.' }]);
    const agent = world.agent({ model: played.model, tools, toolApproval: {} });
    const { thread } = await agent.run('Go', await agent.thread(name));
    const request = single(questionsOf(thread.activeRequests));
    await expectRefused(thread, async () => agent.run(answered(request, filled), thread));
    const answers = filled.map((each, index) => (index === 0 ? { ...each, key: name } : each));
    expect(await agent.run(answered(request, answers), thread)).toMatchObject({ text: 'Done.' });
    expect(resultOf(thread, name)).toEqual({ type: 'json', value: answers });
  });

  test('a thread has no request of such an id', async () => {
    const { request, agent, thread } = await askPick();
    for (const requestId of ['__proto__', 'constructor', '']) {
      const answer = { ...picked(request, ['a']), requestId };
      const code = requestId === '' ? 'invalid-answer' : 'not-found';
      await expectRefused(thread, async () => agent.run(answer, thread), code);
    }
  });
});

describe('the first answer stands:', () => {
  test('the same again is harmless, another is refused, both in every later process', async () => {
    const { request, agent, thread, inProcess } = await askPick();
    await agent.respond(picked(request, ['a'], 'why'), thread, {
      principal: 'ann',
      channel: 'web',
    });
    const elsewhere = inProcess();
    const again = await elsewhere.thread('t');
    await elsewhere.respond(picked(request, ['a'], 'why'), again, { principal: 'bob' });
    for (const other of [picked(request, ['b']), picked(request, ['a']), dismissed(request)]) {
      await expectRefused(again, async () => elsewhere.run(other, again), 'already-answered');
    }
    const reordered = {
      status: 'answered',
      answers: [{ text: 'why', optionIds: ['a'], key: 'choice' }],
    };
    const same = overTheWire({
      ...reordered,
      requestId: request.requestId,
      type: 'question-response',
    });
    expect(await elsewhere.run(same, again)).toMatchObject({ status: 'completed', text: 'Done.' });
    expect(eventsOf(again.events, 'request-answered')).toMatchObject([
      { principal: 'ann', channel: 'web' },
    ]);
  });

  test('the same options in another order are the same answer', async () => {
    const { request, agent, thread } = await askForm();
    await agent.run(answered(request, filled), thread);
    const { revision } = thread;
    const turned = filled.map((each) => ({ ...each, optionIds: each.optionIds.toReversed() }));
    await agent.run(answered(request, turned.toReversed()), thread);
    expect(thread.revision).toBe(revision);
  });

  test.each(storeKits)(
    'X-01: of two processes that answer at once one wins ($name)',
    async ({ keep }) => {
      using kept = keep();
      const { request, inProcess } = await askPick({ store: kept.open() });
      const picks = ['a', 'b'];
      const settled = await Promise.allSettled(
        picks.map(async (pick) => {
          const agent = inProcess({ store: kept.open() });
          const thread = await agent.thread('t');
          return agent.run(picked(request, [pick]), thread);
        }),
      );
      const lost = settled.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
      expect(lost).toMatchObject([{ code: 'already-answered' }]);
      const winner = settled.findIndex(({ status }) => status === 'fulfilled');
      const thread = await inProcess({ store: kept.open() }).thread('t');
      expect(resultOf(thread)).toMatchObject({ value: [{ optionIds: [picks[winner]] }] });
      expect(eventsOf(thread.events, 'request-answered')).toHaveLength(1);
      expect(eventsOf(thread.events, 'step-finished')).toHaveLength(2);
    },
  );

  test('X-01: of ten that say the same at once none is refused, and it is recorded once', async () => {
    const { request, inProcess, world } = await askPick();
    const statuses = await Promise.all(
      Array.from({ length: 10 }, async () => {
        const agent = inProcess();
        const { status } = await agent.run(picked(request, ['a']), await agent.thread('t'));
        return status;
      }),
    );
    expect(new Set(statuses)).toEqual(new Set(['completed', 'running']));
    const thread = await inProcess().thread('t');
    expect(eventsOf(thread.events, 'request-answered')).toHaveLength(1);
    expect(world.requests()).toBe(2);
  });
});

test('X-02: an answer to a request of another thread is refused in the words for one that never was', async () => {
  const { request, inProcess } = await askPick();
  const agent = inProcess({
    model: scriptedModel([{ calls: [{ id: 'q1', name: 'ask', input: {} }] }]).model,
  });
  const { thread } = await agent.run('Go', await agent.thread('other'));
  const [foreign, made] = [picked(request, ['a']), { ...picked(request, ['a']), requestId: 'x' }];
  await expectRefused(thread, async () => agent.run(foreign, thread), 'not-found');
  const refusals = await Promise.all(
    [foreign, made, { ...foreign, answers: [] }, dismissed(request)].map(async (answer) => {
      const { code, message } = await refusalOf(agent.run(answer, thread));
      return { code, message: message.replace(answer.requestId, 'ID') };
    }),
  );
  expect(new Set(refusals.map((each) => JSON.stringify(each))).size).toBe(1);
});

test.each(storeKits)(
  'X-03: a question outlives its process, and the next one answers it ($name)',
  async ({ keep }) => {
    using kept = keep();
    const { request, inProcess } = await askOne(asks(form), {}, { store: kept.open() });
    const agent = inProcess({ store: kept.open() });
    const thread = await agent.thread('t');
    expect(thread.status).toBe('waiting');
    expect(thread.activeRequests).toEqual([request]);
    expect(await agent.run([], thread)).toMatchObject({
      status: 'waiting',
      userInputRequests: [request],
    });
    await expectRefused(thread, async () => agent.run(answered(request, []), thread));
    expect(await agent.run(answered(request, filled), thread)).toMatchObject({ text: 'Done.' });
  },
);

test('X-07: a thread with open questions goes through JSON, and is answered elsewhere', async () => {
  const { thread, inProcess } = await ask({
    tools: everyQuestionTool(),
    calls: [
      {
        id: 'q1',
        name: 'user_choice',
        input: { question: 'Which?', options: JSON.stringify(['\u202e😀', '\u0000']) },
      },
      { id: 'q2', name: 'ask_confirmation', input: { question: '"Sure"?' } },
    ],
  });
  const text = JSON.stringify(thread);
  const agent = inProcess({ store: undefined });
  const restored = await agent.restore(text);
  expect(JSON.stringify(restored)).toBe(text);
  const requests = questionsOf(restored.activeRequests);
  expect(requests).toEqual(thread.activeRequests);
  const answers = [picked(at(requests, 0), ['1']), dismissed(at(requests, 1))];
  expect(await agent.run(overTheWire(answers), restored)).toMatchObject({ text: 'Done.' });
  expect(resultOf(restored)).toEqual({ type: 'text', value: '\u202e😀' });
});

test('respond records an answer and runs nothing; run([]) resumes, anywhere', async () => {
  const { request, agent, thread, inProcess, world } = await askPick();
  await agent.respond(picked(request, ['a']), thread);
  expect(world.requests()).toBe(1);
  expect(await world.store.list({ dueBefore: Number.MAX_SAFE_INTEGER })).toHaveLength(1);
  const elsewhere = inProcess();
  expect(await elsewhere.run([], await elsewhere.thread('t'))).toMatchObject({ text: 'Done.' });
  expect(world.requests()).toBe(2);
});

test('X-09: the log records the question, who answered, through which channel, and the result', async () => {
  const { request, agent, thread } = await askPick();
  const by = { principal: { subject: 'ann' }, channel: 'terminal' };
  await agent.run(picked(request, ['a'], 'cheap'), thread, by);
  const { toolCall: _inMessage, ...asked } = request;
  expect(eventsOf(thread.events, 'request-opened')).toMatchObject([{ request: asked }]);
  expect(eventsOf(thread.events, 'request-answered')).toMatchObject([
    { ...by, response: picked(request, ['a'], 'cheap') },
  ]);
  expect(eventsOf(thread.events, 'call-ended')).toHaveLength(1);
});

const call = (id: string) => ({
  calls: [{ id, name: 'user_choice', input: { question: 'Which?', options: '["A"]' } }],
});

test('C-10: the same question asked again is asked again; an answer is never used twice', async () => {
  const { agent, thread, questions } = await ask({
    tools: { user_choice: userChoice() },
    ...call('q1'),
    script: [call('q2'), { text: 'Done.' }],
  });
  const first = picked(single(questions), ['1']);
  expect(await agent.run(first, thread)).toMatchObject({ status: 'waiting' });
  expect(await agent.run(first, thread)).toMatchObject({ status: 'waiting' });
  expect(thread.activeRequests).toHaveLength(1);
  expect(thread.activeRequests[0]?.requestId).not.toBe(first.requestId);
});
