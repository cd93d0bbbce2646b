import type { SourceMutant } from './source-mutants.ts';

const suite = (name: string) => ['agent/made-inputs', name] as const;
const failed = /AssertionError/;

/** What holds for the values that schemas make: `execute` gets what its schema makes now, and what was decided on. */
export const madeMutants: readonly SourceMutant[] = [
  {
    promise: 'an input that its schema refuses now does not start',
    within: 'remakeInput',
    from: '!parsed.success',
    to: 'false',
    suite: suite('a lower maximum an approved call fails'),
    sentence: failed,
  },
  {
    promise: 'another value than was approved is asked about again',
    within: 'checkOwn',
    from: '!remade.isSame',
    to: 'false',
    suite: suite('another value is asked about once more'),
    sentence: failed,
  },
  {
    promise: 'the same JSON of another type is another value',
    within: 'isRecorded',
    from: 'isEqualJson(types, inputTypes)',
    to: 'true',
    suite: suite('the same JSON of another type'),
    sentence: failed,
  },
  {
    promise: 'another value than was approved is asked about on the terms of its rule',
    within: 'askRemade',
    from: "decision.type === 'ask' ? decision :",
    to: '',
    suite: suite('on the terms that the rule has for it'),
    sentence: failed,
  },
  {
    promise: 'a rule decides on the value with which a call would start',
    within: 'checkUnasked',
    from: 'decideCall(input, proposed, call)',
    to: 'decideCall(input, call, call)',
    suite: suite('is decided on again'),
    sentence: failed,
  },
  {
    promise: 'a schema that makes another value each time does not ask for ever',
    within: 'whyNotAskedAgain',
    from: 'isRemade === true',
    to: 'false',
    suite: suite('makes another value each time'),
    sentence: failed,
  },
  {
    promise: 'a second attempt never runs with another input',
    within: 'checkRestart',
    from: '!remade.isSame',
    to: 'false',
    suite: suite('a second attempt whose value differs'),
    sentence: failed,
  },
  {
    promise: 'a value that was changed after its schema made it does not run',
    within: 'MadeInputs.take',
    from: "!('fault' in form) && isRecorded(form, call)",
    to: 'true',
    suite: suite('after its schema made it does not run'),
    sentence: failed,
  },
  {
    promise: 'nobody is asked about a value that has no JSON form',
    within: 'refuseUnshown',
    from: 'why === undefined',
    to: "why !== ''",
    suite: suite('is not asked about'),
    sentence: failed,
  },
  {
    promise: 'a rule that reads a value without a JSON form decides nothing',
    within: 'InputReads.#watch',
    from: 'this.#unshown.size > 0',
    to: 'false',
    suite: suite('it reads the field, without anything inside it'),
    sentence: failed,
  },
  {
    promise: 'an edit replaces what the model wrote',
    within: 'applyEdit',
    from: 'call.given = undefined;',
    to: '',
    suite: suite('replaces what the model wrote'),
    sentence: failed,
  },
  {
    promise: 'a delegated call goes on with the value that it began with',
    within: 'restoreInput',
    from: 'restoreForm({ json, types })',
    to: 'json',
    suite: ['agent/made-inputs-everywhere', 'goes on with the value that it began with'],
    sentence: failed,
  },
];
