import type { SourceMutant } from './source-mutants.ts';

const sentence = /AssertionError|Timed out|did not succeed/;
const fields = 'tools/typed-fields';
const elicitations = 'tools/elicitations';

/** What holds of texts with a type, and of what MCP servers ask during their calls. */
export const elicitationMutants: readonly SourceMutant[] = [
  {
    promise: 'a text that is no number is not recorded for one',
    file: 'content/question.ts',
    from: 'return schema && whyNotText(schema, text);',
    to: 'return undefined;',
    suite: [fields, 'refuses'],
    sentence,
  },
  {
    promise: 'an integer is one that can be held exactly',
    file: 'content/field-schema.ts',
    from: '!Number.isSafeInteger(value)',
    to: '!Number.isInteger(value)',
    suite: [fields, 'refuses'],
    sentence,
  },
  {
    promise: 'a day is one that its month has',
    file: 'content/field-schema.ts',
    from: 'date.toISOString().startsWith(text)',
    to: "date.toISOString() !== ''",
    suite: [fields, 'refuses'],
    sentence,
  },
  {
    promise: 'a pattern that would be too large is not built',
    file: 'content/linear-pattern.ts',
    from: 'if (states.length >= mostStates)',
    to: 'if (states.length >= mostStates * 2_000)',
    suite: [fields, 'nobody is asked with'],
    sentence,
  },
  {
    promise: 'an anchor holds',
    file: 'content/linear-pattern.ts',
    from: "state?.type === 'end' && at === end",
    to: "state?.type === 'end'",
    suite: [fields, 'refuses'],
    sentence,
  },
  {
    promise: 'a text is only left out where it may be',
    file: 'content/question.ts',
    from: "required ? 'needs text' : undefined",
    to: "required ? undefined : 'needs text'",
    suite: [fields, 'not required may be left out'],
    sentence,
  },
  {
    promise: 'a declined question accepts nothing',
    file: 'tools/elicitation.ts',
    from: "if (reply !== 'accept') return { action: 'decline' };",
    to: "if (reply === 'cancel') return { action: 'decline' };",
    suite: [elicitations, 'declining and dismissing'],
    sentence,
  },
  {
    promise: 'what a server suggests is no answer',
    file: 'tools/elicitation.ts',
    from: 'const least = required ? 1 : 0;',
    to: 'const least = required && property.default === undefined ? 1 : 0;',
    suite: [elicitations, 'is no answer'],
    sentence,
  },
  {
    promise: 'a question belongs to the call that asks',
    file: 'tools/answer-elicitations.ts',
    from: 'turns.run(async () => {',
    to: 'new SerialWork().run(async () => {',
    suite: [elicitations, 'one call of a client'],
    sentence,
  },
  {
    promise: 'a question that was closed is not declined',
    file: 'tools/ask-elicitations.ts',
    from: "response === undefined ? { action: 'cancel' }",
    to: "response === undefined ? { action: 'decline' }",
    suite: [elicitations, 'is cancelled for the server'],
    sentence,
  },
  {
    promise: 'after a crash nobody answers a call that is gone',
    file: 'agent/run/lost-calls.ts',
    from: 'answering?.outlivesProcess !== false',
    to: 'answering?.outlivesProcess !== undefined',
    suite: [elicitations, 'after a crash'],
    sentence,
  },
  {
    promise: 'what a form cannot ask is not asked',
    file: 'tools/elicitation.ts',
    from: "z.strictObject({\n      type: z.enum(['integer', 'number']),",
    to: "z.looseObject({\n      type: z.enum(['integer', 'number']),",
    suite: [elicitations, 'are refused'],
    sentence,
  },
];
