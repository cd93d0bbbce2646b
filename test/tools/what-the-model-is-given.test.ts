import {
  askConfirmation,
  askQuestion,
  askUserQuestion,
  interactionIdOf,
  questionTools,
  userChoice,
} from 'holdpoint/tools';
import { describe, expect, test } from 'vitest';
import { book } from '../support/travel-world.ts';
import { ask, single, toolsGivenToModel } from './asked.ts';
import { deploy, question } from './seed-interactions.ts';
import { database } from './seed-questions.ts';
import { pickCases } from '../support/sampling.ts';

const all = {
  ask_confirmation: askConfirmation(),
  ask_question: askQuestion(),
  AskUserQuestion: askUserQuestion(),
  user_choice: userChoice(),
};
type Name = keyof typeof all;

/** The description and the schema that the model is given, as one text. */
async function given(name: Name): Promise<string> {
  const tool = (await toolsGivenToModel(all)).get(name);
  return JSON.stringify([tool?.description, tool?.inputSchema]);
}

/** What became of a call that the model made. */
async function calledWith(name: Name, input: object) {
  const { response } = await ask({ tools: all, calls: [{ id: 'q1', name, input }] });
  return { asked: response.userInputRequests.length, calls: response.thread.calls };
}

const few = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ label: `L${index}`, description: 'd' }));
const asking = (...questions: object[]) => ({ questions });
const offering = (...options: unknown[]) => asking({ ...database, options });
const suggesting = (...options: object[]) => ({ question: 'Which?', options });
const { header: _header, ...headless } = database;
const labels = (...texts: string[]) => texts.map((label) => ({ label, description: 'd' }));

/** Every refusal of a well-typed input, and where the model could have read it. */
const refusals: [name: Name, what: string, input: object, said: RegExp][] = [
  ['ask_confirmation', 'no question', {}, /"required":\["question"\]/],
  ['ask_confirmation', 'an empty question', { question: '' }, /"question":{[^}]*"minLength":1/],
  ['ask_confirmation', 'a blank question', { question: ' \n' }, /approve; not blank/],
  ['ask_question', 'no question', {}, /"required":\["question"\]/],
  ['ask_question', 'an empty question', { question: '' }, /"question":{[^}]*"minLength":1/],
  ['ask_question', 'a blank question', { question: ' ' }, /is asked; not blank/],
  ['ask_question', 'an empty id', suggesting({ id: '', label: 'A' }), /"id":{[^}]*"minLength":1/],
  [
    'ask_question',
    'a blank id',
    suggesting({ id: ' ', label: 'A' }),
    /the answer will carry; not blank/,
  ],
  ['ask_question', 'no id', suggesting({ label: 'A' }), /"required":\["id","label"\]/],
  [
    'ask_question',
    'two options of one id',
    suggesting({ id: 'a', label: 'A' }, { id: 'a', label: 'B' }),
    /No two have the same id/,
  ],
  [
    'ask_question',
    'an empty label',
    suggesting({ id: 'a', label: '' }),
    /"label":{[^}]*"minLength":1/,
  ],
  ['ask_question', 'a blank label', suggesting({ id: 'a', label: ' ' }), /button says; not blank/],
  ['ask_question', 'no label', suggesting({ id: 'a' }), /"required":\["id","label"\]/],
  ['AskUserQuestion', 'no questions', {}, /"required":\["questions"\]/],
  ['AskUserQuestion', 'an empty list', asking(), /"minItems":1,"maxItems":4/],
  [
    'AskUserQuestion',
    'five questions',
    asking(...['a', 'b', 'c', 'd', 'e'].map((header) => ({ ...database, header }))),
    /"minItems":1,"maxItems":4/,
  ],
  [
    'AskUserQuestion',
    'one header twice',
    asking(database, database),
    /No two have the same header/,
  ],
  [
    'AskUserQuestion',
    'a blank question',
    asking({ ...database, question: ' ' }),
    /whole question; not blank/,
  ],
  [
    'AskUserQuestion',
    'an empty question',
    asking({ ...database, question: '' }),
    /"question":{[^}]*"minLength":1/,
  ],
  [
    'AskUserQuestion',
    'no header',
    asking(headless),
    /"required":\["question","header","options"\]/,
  ],
  [
    'AskUserQuestion',
    'a blank header',
    asking({ ...database, header: ' ' }),
    /at most 12 characters; not blank/,
  ],
  [
    'AskUserQuestion',
    'an empty header',
    asking({ ...database, header: '' }),
    /"header":{[^}]*"minLength":1/,
  ],
  [
    'AskUserQuestion',
    'a header of 13 characters',
    asking({ ...database, header: 'x'.repeat(13) }),
    /"header":{[^}]*"maxLength":12/,
  ],
  ['AskUserQuestion', 'one option', offering(...few(1)), /"minItems":2,"maxItems":4/],
  ['AskUserQuestion', 'five options', offering(...few(5)), /"minItems":2,"maxItems":4/],
  [
    'AskUserQuestion',
    'one label twice',
    offering(...few(1), ...few(1)),
    /No two have the same label/,
  ],
  [
    'AskUserQuestion',
    'one option twice',
    offering(...few(1), ...few(1)),
    /No two have the same label\.","uniqueItems":true/,
  ],
  ['AskUserQuestion', 'a blank label', offering(...labels('A', ' ')), /1 to 5 words/],
  [
    'AskUserQuestion',
    'an empty label',
    offering(...labels('A', '')),
    /"label":{[^}]*"minLength":1/,
  ],
  [
    'AskUserQuestion',
    'a label of six words',
    offering(...labels('A', '1 2 3 4 5 6')),
    /1 to 5 words/,
  ],
  [
    'AskUserQuestion',
    'no description',
    offering({ label: 'A' }, ...few(1)),
    /"required":\["label","description"\]/,
  ],
  [
    'AskUserQuestion',
    'a comma with several picks',
    asking({ ...database, multiSelect: true, options: labels('A, B', 'C') }),
    /multiSelect[^}]*no label may hold a comma and a space/,
  ],
  ['user_choice', 'no options', { question: 'Which?' }, /"required":\["question","options"\]/],
  ['user_choice', 'a blank question', { question: ' ', options: '["A"]' }, /is asked; not blank/],
  [
    'user_choice',
    'an empty question',
    { question: '', options: '["A"]' },
    /"question":{[^}]*"minLength":1/,
  ],
  [
    'user_choice',
    'options that are no JSON',
    { question: 'Q', options: 'A, B' },
    /A JSON array of option strings/,
  ],
  [
    'user_choice',
    'options that are no list',
    { question: 'Q', options: '{}' },
    /A JSON array of option strings/,
  ],
  [
    'user_choice',
    'an option that is no text',
    { question: 'Q', options: '["A",1]' },
    /A JSON array of option strings/,
  ],
  ['user_choice', 'no option in the list', { question: 'Q', options: '[]' }, /at least one option/],
];

describe('everything that is refused is described to the model', () => {
  test.each(pickCases(refusals, 3))('%s: %s', async (name, _what, input, said) => {
    expect(await calledWith(name, input)).toMatchObject({
      asked: 0,
      calls: [{ status: 'failed' }],
    });
    expect(await given(name)).toMatch(said);
  });

  test.each(Object.keys(all))(
    '%s says in its first sentence when it is the one to use',
    async (name) => {
      const description = (await toolsGivenToModel(all)).get(name)?.description ?? '';
      expect(description.split('. ')[0]).toMatch(/^Use this (to|for|before|when) /);
    },
  );
});

describe('one act takes one yes', () => {
  test('the default set has no confirmation, and says to the model that calls ask for approval automatically', async () => {
    const tools = await toolsGivenToModel(questionTools());
    expect([...tools.keys()]).toEqual(['ask_question', 'AskUserQuestion', 'user_choice']);
    for (const { description } of tools.values()) expect(description).not.toMatch(/must call this/);
    expect(tools.get('user_choice')?.description).toContain(
      'tool calls that need an approval ask for it automatically',
    );
  });

  test('a model that wants to confirm a gated call first can not; the gate asks once, and it runs', async () => {
    const { agent, response, world } = await ask({
      tools: questionTools(),
      calls: [{ id: 'q1', name: 'ask_confirmation', input: { ...deploy, target_tool: 'book' } }],
      script: [{ calls: [book('c1', 'Paris')] }, { text: 'Done.' }],
    });
    expect(response.userInputRequests).toMatchObject([{ type: 'approval-request' }]);
    const approval = single(response.approvalRequests);
    expect(await agent.run(approval.approve(), response.thread)).toMatchObject({
      status: 'completed',
    });
    expect(world.ran).toMatchObject([{ name: 'book', input: { city: 'Paris' } }]);
  });
});

test('an interaction_id is a UUID of version 8', async () => {
  const { request } = await question();
  expect(interactionIdOf(request)).toMatch(
    /^[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/,
  );
});
