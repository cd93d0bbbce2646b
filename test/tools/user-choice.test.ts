import { questionTools, userChoice } from 'holdpoint/tools';
import { describe, expect, test } from 'vitest';
import {
  ask,
  askOne,
  dismissed,
  expectRefused,
  picked,
  propertyNames,
  resultOf,
  toolsGivenToModel,
} from './asked.ts';

type UserChoiceOptions = Parameters<typeof userChoice>[0];

/* The example invocation of seed 004. */
const refactoring = {
  question: 'How would you like me to proceed with this refactoring?',
  options:
    '["Apply the changes now", "Show me a diff first", "Create a separate branch", "Cancel"]',
};

const choose = async (options: unknown, made: UserChoiceOptions = {}) =>
  askOne(userChoice(made), { question: 'Which option?', options });

/** What the model gets after an answer. */
async function told(
  options: unknown,
  answer: { pick?: string; text?: string },
  made: UserChoiceOptions = {},
): Promise<unknown> {
  const { request, agent, thread } = await choose(options, made);
  const { pick, text } = answer;
  const response =
    pick === undefined && text === undefined
      ? dismissed(request)
      : picked(request, pick === undefined ? [] : [pick], text);
  await agent.run(response, thread);
  return resultOf(thread);
}

const text = (value: string) => ({ type: 'text', value });
const json = (value: object) => ({ type: 'json', value });

describe('the tool', () => {
  test('S4-01, S4-10, C-12: it is one of the question tools, under the name of the seed', () => {
    expect(Object.keys(questionTools())).toEqual([
      'ask_question',
      'AskUserQuestion',
      'user_choice',
    ]);
  });

  test('S4-07, S4-08: the schema has two strings, both required', async () => {
    const given = (await toolsGivenToModel({ ask: userChoice() })).get('ask');
    expect(given?.inputSchema).toMatchObject({
      type: 'object',
      properties: {
        question: { type: 'string' },
        options: { type: 'string', description: 'A JSON array of option strings.' },
      },
      required: ['question', 'options'],
    });
    expect(propertyNames(given?.inputSchema)).toEqual(['question', 'options']);
  });

  test('S4-26, S4-27: the description says when to use it, and when not', async () => {
    const given = (await toolsGivenToModel({ ask: userChoice() })).get('ask');
    const [use = '', not = ''] = given?.description?.split('Do not use it') ?? [];
    for (const word of [
      'clear set of options',
      'confirm',
      'significant',
      'prefer',
      'several ways',
    ]) {
      expect(use).toContain(word);
    }
    for (const word of ['free answer', 'yes or no', 'seven or eight options']) {
      expect(not).toContain(word);
    }
    expect(not).toContain('"cancelled"');
  });

  test('S4-09: the example of the seed, to the letter', async () => {
    const { request } = await askOne(userChoice(), JSON.stringify(refactoring));
    expect(request).toMatchObject({
      kind: 'choice',
      text: refactoring.question,
      allowDismiss: true,
      fields: [{ label: refactoring.question, min: 1, max: 1, freeText: 'optional' }],
    });
    expect(request.fields[0]?.options.map(({ label }) => label)).toEqual([
      'Apply the changes now',
      'Show me a diff first',
      'Create a separate branch',
      'Cancel',
    ]);
  });

  test('Z4-9: a real array is taken as the string is', async () => {
    const listed = await choose(['A', 'B']);
    const written = await choose('["A","B"]');
    expect(listed.request.fields).toEqual(written.request.fields);
  });

  test.each([1, 9, 10, 500])(
    'S4-03, Z4-3: %i options are all there, each with its own id',
    async (count) => {
      const options = Array.from({ length: count }, (_, index) => `Option ${index}`);
      const { request } = await choose(JSON.stringify(options));
      expect(request.fields[0]?.options.map(({ label }) => label)).toEqual(options);
      expect(new Set(request.fields[0]?.options.map(({ id }) => id)).size).toBe(count);
    },
  );
});

describe('O4-06: invalid options are reported to the model in the words of the seed, and nothing is shown:', () => {
  test.each([
    ['an object', '{"a":1}', 'Error: options must be a JSON array of strings'],
    ['a JSON string', '"A"', 'Error: options must be a JSON array of strings'],
    ['null', 'null', 'Error: options must be a JSON array of strings'],
    ['other things than strings', '["A", 1]', 'Error: all options must be strings'],
    ['a list within the list', '[["A"]]', 'Error: all options must be strings'],
    ['no options', '[]', 'Error: at least one option must be provided'],
    ['an empty array', [], 'Error: at least one option must be provided'],
    ['no JSON', 'A, B', 'Error parsing options JSON: '],
    ['nothing', '', 'Error parsing options JSON: '],
    ['half of JSON', '["A"', 'Error parsing options JSON: '],
  ])('%s', async (_what, options, words) => {
    const { response } = await ask({
      tools: { ask: userChoice() },
      calls: [{ id: 'q1', name: 'ask', input: { question: 'Which?', options } }],
    });
    expect(response).toMatchObject({ status: 'completed', userInputRequests: [] });
    const result = { type: 'error-text', value: expect.stringContaining(words) };
    expect(resultOf(response.thread)).toEqual(result);
  });

  test.each([
    ['S4-07: no question', { options: '["A"]' }],
    ['S4-07: a blank question', { question: ' ', options: '["A"]' }],
    ['S4-08: no options', { question: 'Which?' }],
    ['S4-08: options that are neither a string nor strings', { question: 'Which?', options: [1] }],
  ])('%s is a tool error', async (_what, input) => {
    const { response } = await ask({
      tools: { ask: userChoice() },
      calls: [{ id: 'q1', name: 'ask', input }],
    });
    expect(response).toMatchObject({ status: 'completed', userInputRequests: [] });
    expect(resultOf(response.thread)).toMatchObject({ type: 'error-text' });
  });
});

describe('the result', () => {
  test.each([
    'Apply',
    '  spaced  ',
    '',
    '\u001b[31mred',
    '\u202eabc',
    'a\nb',
    '["A"]',
    '2',
    'é',
    'e\u0301',
  ])('S4-28, S4-29: of a picked option is its exact text: %j', async (option) => {
    expect(await told(JSON.stringify(['Other', option]), { pick: '2' })).toEqual(text(option));
  });

  test.each([
    'something of my own',
    ' 2 ',
    '1',
    '{"status":"selected"}',
    '\u0000\u0007',
    'Error: no',
  ])('S4-28, S4-30: of what was typed is what was typed: %j', async (typed) => {
    expect(await told('["A","B"]', { text: typed })).toEqual(text(typed));
  });

  test('S4-31: for a cancellation is the string cancelled, and the model continues', async () => {
    const { request, agent, thread } = await choose('["A"]');
    expect(await agent.run(dismissed(request), thread)).toMatchObject({
      status: 'completed',
      text: 'Done.',
    });
    expect(resultOf(thread)).toEqual(text('cancelled'));
  });

  test('S4-06, Z4-2: an option called as the last entry is an option like others', async () => {
    const options = '["Say something else...", "B"]';
    expect(await told(options, { pick: '1' })).toEqual(text('Say something else...'));
    expect(await told(options, { pick: '1' }, { output: 'json' })).toEqual(
      json({ status: 'selected', option: 'Say something else...' }),
    );
    expect(await told(options, { text: 'B' }, { output: 'json' })).toEqual(
      json({ status: 'typed', text: 'B' }),
    );
  });

  test('Z4-2: of two options of one text each can be picked', async () => {
    const { request, agent, thread } = await choose('["Same", "Same"]', { output: 'json' });
    await agent.run(picked(request, ['2']), thread);
    expect(thread.events).toContainEqual(
      expect.objectContaining({
        type: 'request-answered',
        response: expect.objectContaining({ answers: [{ key: 'choice', optionIds: ['2'] }] }),
      }),
    );
  });

  test('Z4-1: as text, an option and a typed text called cancelled are a cancellation', async () => {
    const answers = [{ pick: '1' }, { text: 'cancelled' }, {}];
    const results = await Promise.all(answers.map(async (each) => told('["cancelled"]', each)));
    expect(results).toEqual(answers.map(() => text('cancelled')));
  });

  test('Z4-1: as JSON, the three can be distinguished', async () => {
    const answers = [{ pick: '1' }, { text: 'cancelled' }, {}];
    const results = await Promise.all(
      answers.map(async (each) => told('["cancelled"]', each, { output: 'json' })),
    );
    expect(results).toEqual([
      json({ status: 'selected', option: 'cancelled' }),
      json({ status: 'typed', text: 'cancelled' }),
      json({ status: 'cancelled' }),
    ]);
  });
});

test.each<[string, string[], string | undefined]>([
  ['an option and a text', ['1'], 'own'],
  ['two options', ['1', '2'], undefined],
  ['the text of an option in place of its id', ['A'], undefined],
  ['an index from 0', ['0'], undefined],
  ['the number of the last entry', ['3'], undefined],
  ['nothing', [], undefined],
])('S4-29, O4-07: %s is no answer', async (_what, optionIds, typed) => {
  const { request, agent, thread } = await choose('["A","B"]');
  await expectRefused(thread, async () => agent.run(picked(request, optionIds, typed), thread));
});
