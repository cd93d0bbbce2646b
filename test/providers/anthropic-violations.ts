import type { GivenPart, ViolationRow } from './violation-row.ts';

const user = { role: 'user', content: 'Book Paris' };
const call = (id: string, input: unknown = { city: 'Paris' }) => ({
  type: 'tool_use',
  id,
  name: 'book',
  input,
});
const asking = (...content: object[]) => ({ role: 'assistant', content });
const result = (id: string) => ({ type: 'tool_result', tool_use_id: id, content: '' });
const results = (...content: object[]) => ({ role: 'user', content });
const text = { type: 'text', text: 'Go on.' };

/** An Anthropic conversation without a fault. */
export const goodMessages = [
  user,
  asking(text, call('c1'), call('c2')),
  results(result('c2'), result('c1'), text),
  { role: 'assistant', content: 'Booked.' },
  user,
];

const thought = {
  reasoning: 'Paris it is.',
  calls: [{ id: 'c1', name: 'book', input: { city: 'Paris' } }],
};
const changed = (given: GivenPart[], change: object) =>
  asking(...given.map((part) => (part.type === 'thinking' ? { ...part, ...change } : part)));

/** Faults that Anthropic refuses. */
export const anthropicViolations: ViolationRow[] = [
  {
    name: 'a call without a result',
    conversation: [user, asking(call('c1'), call('c2')), results(result('c1'))],
    expected: /tool_use c2 .* has no result/,
  },
  {
    name: 'a result that comes a message late',
    conversation: [user, asking(call('c1')), user, asking(text), results(result('c1'))],
    expected: /tool_use c1 .* has no result|no tool_use c1 right before/,
  },
  {
    name: 'a result behind other content',
    conversation: [user, asking(call('c1')), results(text, result('c1'))],
    expected: /results must come first/,
  },
  {
    name: 'a result without a call',
    conversation: [user, asking(text), results(result('c1'))],
    expected: /no tool_use c1 right before/,
  },
  {
    name: 'a second result',
    conversation: [user, asking(call('c1')), results(result('c1'), result('c1'))],
    expected: /c1 has two results/,
  },
  {
    name: 'two calls of one id',
    conversation: [user, asking(call('c1'), call('c1')), results(result('c1'))],
    expected: /id c1 was used before/,
  },
  {
    name: 'a call id that is used again',
    conversation: [
      user,
      asking(call('c1')),
      results(result('c1')),
      asking(call('c1')),
      results(result('c1')),
    ],
    expected: /id c1 was used before/,
  },
  {
    name: 'an id with other characters',
    conversation: [user, asking(call('c.1')), results(result('c.1'))],
    expected: /(\.id|use_id): Invalid string: must match pattern/,
  },
  {
    name: 'an input that is text',
    conversation: [user, asking(call('c1', '{"city":"Paris"}')), results(result('c1'))],
    expected: /0\.input: /,
  },
  {
    name: 'an input that is a list',
    conversation: [user, asking(call('c1', [])), results(result('c1'))],
    expected: /0\.input: /,
  },
  {
    name: 'an assistant message first',
    conversation: [asking(text), user],
    expected: /first message must be/,
  },
  {
    name: 'an assistant message last',
    conversation: [user, asking(text)],
    expected: /last message must not be/,
  },
  {
    name: 'two messages of one role',
    conversation: [user, user],
    expected: /roles must alternate/,
  },
  {
    name: 'a part about approval',
    conversation: [user, asking({ type: 'tool-approval-request', approvalId: 'a' }), user],
    expected: /tool-approval-request was sent/,
  },
  {
    name: 'an empty message',
    conversation: [{ role: 'user', content: '' }],
    expected: /content: text must not be blank/,
  },
  {
    name: 'an empty list of blocks',
    conversation: [user, asking(), user],
    expected: /messages\.1\.content: .*Too small/,
  },
  {
    name: 'a blank text block',
    conversation: [user, asking({ type: 'text', text: ' \n' }), user],
    expected: /messages\.1\.content\.0\.text: text must not be blank/,
  },
  { name: 'no message', conversation: [], expected: /messages: Too small/ },
  {
    name: 'an unknown role',
    conversation: [user, { role: 'tool', content: 'x' }, user],
    expected: /messages\.1\.role: /,
  },
  {
    name: 'an unknown type of block',
    conversation: [{ role: 'user', content: [{ type: 'execution-denied', reason: 'no' }] }],
    expected: /messages\.0\.content: .*0\.type: /,
  },
  {
    name: 'a call by the user',
    conversation: [results(call('c1')), asking(text), user],
    expected: /messages\.0\.content: .*0\.type: /,
  },
  {
    name: 'a call without the thinking before it',
    script: thought,
    conversation: [user, asking(call('c1')), results(result('c1'))],
    expected: /without the thinking it began with/,
  },
  {
    name: 'changed thinking',
    script: thought,
    conversation: (given) => [user, changed(given, { thinking: 'Rome.' }), results(result('c1'))],
    expected: /thinking came back changed/,
  },
  {
    name: 'thinking behind other content',
    script: thought,
    conversation: (given) => [user, asking(text, ...given), results(result('c1'))],
    expected: /without the thinking it began with/,
  },
  {
    name: 'thinking without what followed it',
    script: { ...thought, text: 'One moment.' },
    conversation: (given) => [
      user,
      asking(...given.filter(({ type }) => type !== 'text')),
      results(result('c1')),
    ],
    expected: /thinking came back out of its place/,
  },
  {
    name: 'thinking that nothing follows',
    script: { reasoning: 'Paris.' },
    conversation: (given) => [user, asking(...given), user],
    expected: /the last block must not be thinking/,
  },
  {
    name: 'thinking with another signature',
    conversation: [
      user,
      asking({ type: 'thinking', thinking: 'Hm.', signature: 'c2ln' }, text),
      user,
    ],
    expected: /thinking came back changed/,
  },
];
