import type { SourceMutant } from './source-mutants.ts';

const sentence = /AssertionError|Timed out|did not succeed/;
const fields = 'tools/typed-fields';
const elicitations = 'tools/elicitations';
const visits = 'tools/visits';

/** What holds of texts with a type, and of what MCP servers ask during their calls. */
export const elicitationMutants: readonly SourceMutant[] = [
  {
    promise: 'a text that is no number is not recorded for one',
    within: 'whyNotAnswered',
    from: 'schema && whyNotText(schema, text)',
    to: 'undefined',
    suite: [fields, 'refuses'],
    sentence,
  },
  {
    promise: 'an integer is one that can be held exactly',
    within: 'fitsNumber',
    from: '!Number.isSafeInteger(value)',
    to: '!Number.isInteger(value)',
    suite: [fields, 'refuses'],
    sentence,
  },
  {
    promise: 'a day is one that its month has',
    within: 'isDate',
    from: 'date.toISOString().startsWith(text)',
    to: "date.toISOString() !== ''",
    suite: [fields, 'refuses'],
    sentence,
  },
  {
    promise: 'a text is only left out where it may be',
    within: 'whyNotAnswered',
    from: "'needs text' : undefined",
    to: "undefined : 'needs text'",
    suite: [fields, 'not required may be left out'],
    sentence,
  },
  {
    promise: 'a declined question accepts nothing',
    within: 'makeResult',
    from: "reply !== 'accept'",
    to: "reply === 'cancel'",
    suite: [elicitations, 'declining and dismissing'],
    sentence,
  },
  {
    promise: 'what a server suggests is no answer',
    within: 'makeField',
    from: 'required ? 1 : 0',
    to: 'required && property.default === undefined ? 1 : 0',
    suite: [elicitations, 'is no answer'],
    sentence,
  },
  {
    promise: 'a question belongs to the call that asks',
    within: 'answerElicitations',
    from: 'turns.run(async () => {',
    to: 'new SerialWork().run(async () => {',
    suite: [elicitations, 'one call of a client'],
    sentence,
  },
  {
    promise: 'a question that was closed is not declined',
    within: 'Elicitations.ask',
    from: "action: 'cancel'",
    to: "action: 'decline'",
    suite: [elicitations, 'is cancelled for the server'],
    sentence,
  },
  {
    promise: 'after a crash nobody answers a call that is gone',
    within: 'makeLostEvents',
    from: 'outlivesProcess(context, call)',
    to: 'outlivesProcess(context, call) || at > 0',
    suite: [elicitations, 'after a crash'],
    sentence,
  },
  {
    promise: 'what a form cannot ask is not asked',
    within: 'readSchemas',
    from: "z.strictObject({\n      type: z.enum(['integer', 'number']),",
    to: "z.looseObject({\n      type: z.enum(['integer', 'number']),",
    suite: [elicitations, 'are refused'],
    sentence,
  },
  {
    promise: 'nobody is sent to an address that is not encrypted',
    within: 'parseVisit',
    from: "address.protocol !== 'https:'",
    to: "address.protocol === 'ftp:'",
    suite: [visits, 'nobody is sent to'],
    sentence,
  },
  {
    promise: 'a host is not hidden behind a name',
    within: 'parseVisit',
    from: "address.username !== '' || address.password !== ''",
    to: "address.password !== ''",
    suite: [visits, 'nobody is sent to'],
    sentence,
  },
  {
    promise: 'letters that look like others are named',
    within: 'readVisit',
    from: '`Address: ${url}`',
    to: '`Address: ${href}`',
    suite: [visits, 'sends people to an address'],
    sentence,
  },
];
