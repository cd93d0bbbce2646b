import { askUserQuestion, questionTools, toAskUserQuestionRequest } from 'holdpoint/tools';
import { describe, expect, test } from 'vitest';
import { ask, askOne, propertyNames, resultOf, toolsGivenToModel } from './asked.ts';
import { answer, askQuestions, database, features } from './seed-questions.ts';

test('S1-01, S1-20, S1-21: the run pauses in a waiting state that names the request', async () => {
  const { response, thread, request, world } = await askQuestions(database);
  expect(response.status).toBe('waiting');
  expect(world.requests()).toBe(1);
  expect(thread.status).toBe('waiting');
  expect(thread.activeRequests).toMatchObject([{ requestId: request.requestId }]);
  expect(thread.calls).toMatchObject([{ status: 'waiting', requestId: request.requestId }]);
});

test('S1-01: it is one of the question tools, under the name of the seed', () => {
  expect(Object.keys(questionTools())).toContain('AskUserQuestion');
});

const many = <ITEM>(count: number, make: (index: number) => ITEM): ITEM[] =>
  Array.from({ length: count }, (_, index) => make(index));
const options = (count: number) =>
  many(count, (index) => ({ label: `Label ${index}`, description: 'd' }));
const questions = (count: number) =>
  many(count, (index) => ({ ...database, header: `Header ${index}` }));
const labelled = (label: string, multiSelect = false) => ({
  ...database,
  multiSelect,
  options: [...options(1), { label, description: 'd' }],
});

describe('limits', () => {
  test.each<[string, unknown[]]>([
    ['S1-02, S1-29: one question', questions(1)],
    ['S1-02, S1-29: four questions', questions(4)],
    ['S1-03, S1-30: two options', [{ ...database, options: options(2) }]],
    ['S1-03, S1-30: four options', [{ ...database, options: options(4) }]],
    ['S1-08, S1-31: a header of 12 characters', [{ ...database, header: 'x'.repeat(12) }]],
    ['Z1-7: a header of 12 characters beyond U+FFFF', [{ ...database, header: '😀'.repeat(12) }]],
    ['S1-11, S1-32: a label of one word', [labelled('One')]],
    ['S1-11, S1-32: a label of five words', [labelled('One two three four five')]],
    ['Z1-7: five words in much white space', [labelled('  One\ttwo  three four\u3000five ')]],
    [
      'Z1-8: an empty description',
      [
        {
          ...database,
          options: [
            { label: 'A', description: '' },
            { label: 'B', description: '' },
          ],
        },
      ],
    ],
    ['Z1-3: a comma in a label of a single choice', [labelled('Yes, please')]],
    ['Z1-3: a comma without a space in a multiple choice', [labelled('1,000', true)]],
    ['Z1-2: the same labels in two questions', questions(2)],
  ])('%s is shown', async (_what, asked) => {
    const { request } = await askQuestions(...asked);
    expect(toAskUserQuestionRequest(request).questions).toEqual(asked);
  });

  const { question: _question, ...unasked } = database;
  const { header: _header, ...headless } = database;
  const { options: _options, ...bare } = database;
  test.each<[string, unknown]>([
    ['S1-02, S1-29, S1-33, S1-34: no question', []],
    ['S1-02, S1-29, S1-33, S1-34: five questions', questions(5)],
    ['S1-03, S1-30, S1-33, S1-34: one option', [{ ...database, options: options(1) }]],
    ['S1-03, S1-30, S1-33, S1-34: five options', [{ ...database, options: options(5) }]],
    ['S1-08, S1-31, S1-33: a header of 13 characters', [{ ...database, header: 'x'.repeat(13) }]],
    ['S1-11, S1-32, S1-33: a label of six words', [labelled('One two three four five six')]],
    ['S1-11, S1-32, S1-33: a label without a word', [labelled('')]],
    ['S1-07: no question text', [unasked]],
    ['S1-08: no header', [headless]],
    ['S1-09: no options', [bare]],
    [
      'S1-12: an option without a description',
      [{ ...database, options: [{ label: 'A' }, { label: 'B' }] }],
    ],
    ['S1-10: a multiSelect that is no boolean', [{ ...database, multiSelect: 'yes' }]],
    ['S1-02: questions that are no list', database],
    ['Z1-1: two questions of one header', [database, database]],
    ['Z1-2: two options of one label', [{ ...database, options: [...options(1), ...options(1)] }]],
    ['Z1-3: a comma and a space in a label of a multiple choice', [labelled('A, B', true)]],
    ['Z1-8: a blank question', [{ ...database, question: ' \n' }]],
    ['Z1-8: a blank header', [{ ...database, header: '  ' }]],
    ['Z1-8: a blank label', [labelled('\u00a0')]],
  ])('%s is a tool error: nothing is shown, and the turn goes on', async (_what, asked) => {
    const calls = [{ id: 'q1', name: 'ask', input: { questions: asked } }];
    const { response, world } = await ask({ tools: { ask: askUserQuestion() }, calls });
    expect(response).toMatchObject({ status: 'completed', text: 'Done.', userInputRequests: [] });
    expect(response.thread.events.map(({ type }) => type)).not.toContain('request-opened');
    expect(response.thread.calls).toMatchObject([{ status: 'failed' }]);
    expect(resultOf(response.thread)).toMatchObject({ type: 'error-text' });
    expect(world.played.prompts).toHaveLength(2);
  });
});

test('S1-02, S1-03, S1-13, S1-40, S1-41: the description states the limits, and mentions no nesting and no media', async () => {
  const given = (await toolsGivenToModel({ ask: askUserQuestion() })).get('ask');
  const names = [
    'questions',
    'question',
    'header',
    'options',
    'label',
    'description',
    'multiSelect',
  ];
  expect(propertyNames(given?.inputSchema).toSorted()).toEqual(names.toSorted());
  expect(given?.inputSchema).toMatchObject({
    properties: {
      questions: {
        minItems: 1,
        maxItems: 4,
        items: {
          required: expect.arrayContaining(['question', 'header', 'options']),
          properties: {
            multiSelect: { type: 'boolean' },
            options: {
              minItems: 2,
              maxItems: 4,
              items: {
                required: ['label', 'description'],
                properties: { label: { type: 'string' }, description: { type: 'string' } },
              },
            },
          },
        },
      },
    },
  });
});

test('S1-04, S1-10: a question without multiSelect takes one option, one with it takes several', async () => {
  const { multiSelect: _absent, ...plain } = database;
  const { request } = await askQuestions(plain, features);
  expect(toAskUserQuestionRequest(request).questions).toMatchObject([
    { multiSelect: false },
    { multiSelect: true },
  ]);
  expect(request.fields).toMatchObject([{ max: 1 }, { max: 3 }]);
});

test('S1-05, S1-22, S1-23: the payload of the event is the request id and the questions, and no more', async () => {
  const { request } = await askQuestions(database, features);
  expect(toAskUserQuestionRequest(request)).toEqual({
    requestId: request.requestId,
    questions: [database, features],
  });
});

test('S1-06: every request has an id of its own, also for the same call of another thread', async () => {
  const ids = new Set<string>();
  for (let round = 0; round < 50; round += 1) {
    const { request } = await askQuestions(database);
    ids.add(request.requestId);
    expect(request.requestId.length).toBeGreaterThanOrEqual(22);
  }
  expect(ids.size).toBe(50);
});

test('Z1-9: an answer that the model filled in itself does not count', async () => {
  const { request, thread } = await askOne(askUserQuestion(), {
    questions: [{ ...database, answer: 'SQLite' }],
    answers: { Database: 'SQLite' },
  });
  expect(thread.status).toBe('waiting');
  expect(JSON.stringify(request)).not.toContain('answers');
  expect(request.fields[0]).not.toHaveProperty('preselected');
  expect(request).not.toHaveProperty('dismissAnswer');
});

test('Z1-10: a question does not expire', async () => {
  const clock = { now: 0 };
  const { request, agent, thread } = await askOne(
    askUserQuestion(),
    { questions: [database] },
    { now: () => clock.now },
  );
  expect(request).not.toHaveProperty('expiresAt');
  clock.now = Number.MAX_SAFE_INTEGER;
  const response = await agent.run(answer(request, { Database: ['SQLite'] }), thread);
  expect(response.status).toBe('completed');
});

test('Z1-11: calls of one step are a queue of requests, in the order of the model', async () => {
  const headers = ['One', 'Two', 'Three'];
  const { thread } = await ask({
    tools: { AskUserQuestion: askUserQuestion() },
    calls: headers.map((header) => ({
      id: header,
      name: 'AskUserQuestion',
      input: { questions: [{ ...database, header }] },
    })),
  });
  expect(thread.activeRequests).toMatchObject(headers.map((key) => ({ fields: [{ key }] })));
});
