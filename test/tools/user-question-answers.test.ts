import * as fc from 'fast-check';
import type { QuestionRequestContent } from 'holdpoint';
import {
  fromUserQuestionResponse,
  toAskUserQuestionRequest,
  toUserQuestionAnswers,
} from 'holdpoint/tools';
import { describe, expect, test } from 'vitest';
import { dismissed, expectRefused, overTheWire, refusalOf, resultOf } from './asked.ts';
import { answer, askQuestions, database, features, wire } from './seed-questions.ts';
import { countTrials } from '../support/sampling.ts';

test.each([
  ['S1-14, S1-16, S1-18', database, { Database: 'PostgreSQL' }],
  ['S1-14, S1-17, S1-19', features, { Features: 'Caching, Metrics' }],
])(
  '%s: the response of the seed is the result of the call, by header',
  async (_row, question, answers) => {
    const { request, agent, thread } = await askQuestions(question);
    const response = fromUserQuestionResponse(request, wire(request, answers));
    expect(await agent.run(response, thread)).toMatchObject({ status: 'completed', text: 'Done.' });
    expect(resultOf(thread)).toEqual({ type: 'json', value: answers });
  },
);

test('S1-13, S1-14: a response is taken with request_id, and with requestId as front ends of the seed say it', async () => {
  const { request } = await askQuestions(database);
  const answers = { Database: 'SQLite' };
  const { requestId } = request;
  const expected = answer(request, { Database: ['SQLite'] });
  expect(fromUserQuestionResponse(request, { request_id: requestId, answers })).toEqual(expected);
  expect(fromUserQuestionResponse(request, { requestId, answers })).toEqual(expected);
});

describe('an invalid response is refused, and the question stays open:', () => {
  test.each<[string, (request: QuestionRequestContent) => unknown]>([
    ['S1-15: another request id', () => ({ request_id: 'other', answers: { Database: 'SQLite' } })],
    ['S1-15: no request id', () => ({ answers: { Database: 'SQLite' } })],
    [
      'S1-15: two request ids',
      ({ requestId }) => ({ requestId, request_id: requestId, answers: {} }),
    ],
    [
      'S1-16: answers by question text',
      (request) => wire(request, { [database.question]: 'SQLite' }),
    ],
    [
      'S1-16: answers that are no text',
      ({ requestId }) => ({ requestId, answers: { Database: 1 } }),
    ],
    [
      'S1-16: answers as lists',
      ({ requestId }) => ({ requestId, answers: { Database: ['SQLite'] } }),
    ],
    ['S1-39: a label that was not offered', (request) => wire(request, { Database: 'Oracle' })],
    ['S1-39: a label in other letters', (request) => wire(request, { Database: 'sqlite' })],
    ['S1-39: a label of another question', (request) => wire(request, { Database: 'Caching' })],
    ['S1-39: the number of an option', (request) => wire(request, { Database: '1' })],
    [
      'S1-04: two labels for a single choice',
      (request) => wire(request, { Database: 'PostgreSQL, SQLite' }),
    ],
    ['Z1-5: nothing picked', (request) => wire(request, { Database: '' })],
    [
      'Z1-6: an unknown header',
      (request) => wire(request, { Database: 'SQLite', Extra: 'SQLite' }),
    ],
    ['X-06: a header from the prototype', (request) => wire(request, { constructor: 'SQLite' })],
    ['no object', () => 'PostgreSQL'],
    ['more keys', (request) => ({ ...wire(request, { Database: 'SQLite' }), approved: true })],
  ])('%s', async (_what, response) => {
    const { request, thread } = await askQuestions(database);
    await expectRefused(thread, async () => {
      fromUserQuestionResponse(request, response(request));
    });
  });
});

describe('an invalid answer is refused by the agent too:', () => {
  test.each<[string, Record<string, string[]>]>([
    ['S1-39: an option that was not offered', { Database: ['Oracle'], Features: ['Caching'] }],
    [
      'S1-04: two options of a single choice',
      { Database: ['PostgreSQL', 'SQLite'], Features: ['Caching'] },
    ],
    ['Z1-4: an option twice', { Database: ['SQLite'], Features: ['Caching', 'Caching'] }],
    ['Z1-5: no option of a multiple choice', { Database: ['SQLite'], Features: [] }],
    ['Z1-6: a question that is not answered', { Database: ['SQLite'] }],
    [
      'Z1-6: a header that was not asked',
      { Database: ['SQLite'], Features: ['Caching'], More: ['x'] },
    ],
  ])('%s', async (_what, picks) => {
    const { request, agent, thread } = await askQuestions(database, features);
    await expectRefused(thread, async () => agent.run(answer(request, picks), thread));
  });

  test('S1-39: text with an option, and text alone', async () => {
    const { request, agent, thread } = await askQuestions(database);
    for (const optionIds of [[], ['SQLite']]) {
      const { requestId } = request;
      const answers = [{ key: 'Database', optionIds, text: 'MySQL' }];
      const typed = { type: 'question-response', requestId, status: 'answered', answers } as const;
      await expectRefused(thread, async () => agent.run(typed, thread));
    }
  });
});

test('S1-17, Z1-4: labels are joined in the order of the options, in whichever order they were picked', async () => {
  const { request, agent, thread } = await askQuestions(features);
  const response = fromUserQuestionResponse(
    request,
    wire(request, { Features: 'Metrics, Caching' }),
  );
  await agent.run(response, thread);
  expect(resultOf(thread)).toEqual({ type: 'json', value: { Features: 'Caching, Metrics' } });
});

test('S1-16, S1-17, Z1-3: whatever the labels, answers go over the wire and back without loss', async () => {
  const word = fc.string({ minLength: 1, maxLength: 8, unit: 'grapheme' });
  const label = fc
    .tuple(word, fc.constantFrom('', ' ', ',', ' ,'), fc.constantFrom('', 'b', ',', ',c'))
    .map((parts) => parts.join(''))
    .filter((text) => text.trim() !== '' && text.trim().split(/\s+/).length <= 5)
    .filter((text) => !text.includes(', ') && text.isWellFormed());
  const question = fc
    .record({
      labels: fc.uniqueArray(label, { minLength: 2, maxLength: 4 }),
      multiSelect: fc.boolean(),
    })
    .chain(({ labels, multiSelect }) =>
      fc.record({
        labels: fc.constant(labels),
        multiSelect: fc.constant(multiSelect),
        chosen: fc.subarray(labels, { minLength: 1, maxLength: multiSelect ? labels.length : 1 }),
      }),
    );
  const form = fc.array(question, { minLength: 1, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(form, async (asked) => {
      const { request } = await askQuestions(
        ...asked.map(({ labels, multiSelect }, index) => ({
          ...database,
          header: `H${index}`,
          multiSelect,
          options: labels.map((each) => ({ label: each, description: '' })),
        })),
      );
      const answers = Object.fromEntries(
        asked.map(({ chosen }, index) => [`H${index}`, chosen.join(', ')]),
      );
      const response = fromUserQuestionResponse(request, overTheWire(wire(request, answers)));
      if (response.status !== 'answered') throw new Error('It was answered.');
      expect(toUserQuestionAnswers(request, response)).toEqual(answers);
      expect(response.answers.map(({ optionIds }) => optionIds)).toEqual(
        asked.map(({ chosen }) => chosen),
      );
    }),
    { numRuns: countTrials(60) },
  );
});

test('Z1-12: a second response to a settled request is refused, and the result stays', async () => {
  const { request, agent, thread } = await askQuestions(database);
  await agent.run(answer(request, { Database: ['SQLite'] }), thread);
  const late = answer(request, { Database: ['PostgreSQL'] });
  await expectRefused(thread, async () => agent.run(late, thread), 'already-answered');
  await expectRefused(
    thread,
    async () => agent.run(dismissed(request), thread),
    'already-answered',
  );
  expect(resultOf(thread)).toEqual({ type: 'json', value: { Database: 'SQLite' } });
});

test.each(['__proto__', 'constructor', 'toString', 'hasOwn'])(
  'X-06: a question may have the header %s, and its answer comes over the wire',
  async (header) => {
    const { request, agent, thread, inProcess } = await askQuestions({ ...database, header });
    const response = JSON.parse(
      `{"requestId":"${request.requestId}","answers":{"${header}":"SQLite"}}`,
    );
    await agent.run(fromUserQuestionResponse(request, response), thread);
    const again = await inProcess().thread('t');
    for (const each of [thread, again]) {
      expect(JSON.stringify(resultOf(each))).toBe(`{"type":"json","value":{"${header}":"SQLite"}}`);
    }
  },
);

describe('a request that the shape of the seed can not hold is refused, and not shown as something else:', () => {
  const base: QuestionRequestContent = {
    type: 'question-request',
    kind: 'question',
    requestId: 'r',
    threadId: 't',
    text: 'Which?',
    allowDismiss: true,
    createdAt: 0,
    fields: [
      {
        key: 'Pick',
        label: 'Which?',
        options: ['a', 'b', 'c'].map((id) => ({ id, label: id.toUpperCase() })),
        min: 1,
        max: 1,
        freeText: 'never',
      },
    ],
  };
  const changed = (change: Partial<QuestionRequestContent['fields'][number]>) => ({
    ...base,
    fields: base.fields.map((field) => ({ ...field, ...change })),
  });

  test('S1-23: a question that fits is converted with its labels, and answered by id', () => {
    expect(toAskUserQuestionRequest(base).questions[0]?.options[1]).toEqual({
      label: 'B',
      description: '',
    });
    const response = fromUserQuestionResponse(base, wire(base, { Pick: 'B' }));
    expect(response).toEqual(answer(base, { Pick: ['b'] }));
  });

  test.each<[string, QuestionRequestContent]>([
    ['S1-39: free text', changed({ freeText: 'optional' })],
    ['S1-39: text alone', changed({ freeText: 'only', options: [] })],
    [
      'S1-03: five options',
      changed({ options: ['a', 'b', 'c', 'd', 'e'].map((id) => ({ id, label: id })) }),
    ],
    ['S1-08: a long key', changed({ key: 'x'.repeat(13) })],
    [
      'S1-16: two options of one label',
      changed({ options: ['a', 'b'].map((id) => ({ id, label: 'Same' })) }),
    ],
    ['S1-10: two picks of three', changed({ max: 2 })],
    ['S1-10: at least two picks', changed({ min: 2, max: 3 })],
    ['S1-10: an answer that may be left out', changed({ min: 0 })],
  ])('%s', async (_what, request) => {
    expect(await refusalOf(() => toAskUserQuestionRequest(request))).toMatchObject({
      code: 'invalid-input',
    });
  });
});
