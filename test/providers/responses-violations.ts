import type { GivenPart, ViolationRow } from './violation-row.ts';

const user = { role: 'user', content: [{ type: 'input_text', text: 'Book Paris' }] };
const call = (id: string, text = '{"city":"Paris"}') => ({
  type: 'function_call',
  call_id: id,
  name: 'book',
  arguments: text,
});
const output = (id: string) => ({ type: 'function_call_output', call_id: id, output: '' });
const reference = (id: unknown) => ({ type: 'item_reference', id });

/** A Responses conversation without a fault. */
export const goodItems = [
  { role: 'system', content: 'Be brief.' },
  user,
  call('c1'),
  call('c2'),
  output('c2'),
  output('c1'),
  { role: 'assistant', content: 'Booked.' },
  user,
];

const thought = {
  reasoning: 'Paris it is.',
  text: 'One moment.',
  calls: [{ id: 'c1', name: 'book', input: { city: 'Paris' } }],
};
const approval = (id: string) => ({
  type: 'mcp_approval_response',
  approval_request_id: id,
  approve: true,
});
const asking = {
  calls: [{ id: 'p1', name: 'mcp.open', input: {}, atProvider: { approvalId: 'mcpr_1' } }],
};
const stateless = { store: false, include: ['reasoning.encrypted_content'] };
const partOf = (given: GivenPart[], type: string) => given.find((part) => part.type === type);
const idOf = (given: GivenPart[], type: string) => partOf(given, type)?.['id'];

/** Faults that the Responses API refuses. */
export const responsesViolations: ViolationRow[] = [
  {
    name: 'a call without an output',
    conversation: [user, call('c1'), call('c2'), output('c1')],
    expected: /call c2 has no output/,
  },
  {
    name: 'an output without a call',
    conversation: [user, output('c1')],
    expected: /no call c1 before/,
  },
  {
    name: 'an output before its call',
    conversation: [user, call('c1'), output('c1'), output('c2'), user],
    expected: /no call c2 before/,
  },
  {
    name: 'a second output',
    conversation: [user, call('c1'), output('c1'), output('c1')],
    expected: /c1 has two outputs/,
  },
  {
    name: 'two calls of one id',
    conversation: [user, call('c1'), call('c1'), output('c1')],
    expected: /call_id c1 was used before/,
  },
  {
    name: 'a call id that is used again',
    conversation: [user, call('c1'), output('c1'), call('c1'), output('c1')],
    expected: /call_id c1 was used before/,
  },
  {
    name: 'arguments that are no JSON',
    conversation: [user, call('c1', '{"city":'), output('c1')],
    expected: /arguments: is not JSON text/,
  },
  {
    name: 'a part about approval',
    conversation: [user, { type: 'tool-approval-response', approvalId: 'a', approved: true }],
    expected: /tool-approval-response was sent/,
  },
  {
    name: 'an answer to a request for approval that was never made',
    conversation: [user, approval('a')],
    expected: /no approval request a before/,
  },
  {
    name: 'an answer to a request for approval that was not stored',
    script: asking,
    settings: stateless,
    conversation: [user, approval('mcpr_1')],
    expected: /no approval request mcpr_1 before/,
  },
  {
    name: 'two answers to a request for approval',
    script: asking,
    conversation: [user, reference('mcpr_1'), approval('mcpr_1'), approval('mcpr_1')],
    expected: /mcpr_1 has two answers/,
  },
  {
    name: 'no answer to a request for approval',
    script: asking,
    conversation: [user],
    expected: /mcpr_1 has no answer/,
  },
  {
    name: 'an unknown type of item',
    conversation: [user, { type: 'tool_result', call_id: 'c1', output: 'x' }],
    expected: /input\.1\.type: /,
  },
  {
    name: 'an unknown role',
    conversation: [user, { role: 'tool', content: 'x' }],
    expected: /input\.1\.role: /,
  },
  {
    name: 'an empty list of parts',
    conversation: [{ role: 'user', content: [] }],
    expected: /content: .*Too small/,
  },
  { name: 'no item', conversation: [], expected: /input: Too small/ },
  {
    name: 'a reference to what was never given',
    conversation: [user, reference('rs_9')],
    expected: /rs_9 was never stored/,
  },
  {
    name: 'a reference to what was not stored',
    script: thought,
    settings: stateless,
    conversation: (given) => [user, reference(idOf(given, 'message'))],
    expected: /msg_1 was never stored/,
  },
  {
    name: 'an item twice',
    script: { text: 'Hello.' },
    conversation: (given) => [user, ...given.flatMap(({ id }) => [reference(id), reference(id)])],
    expected: /msg_1 is there twice/,
  },
  {
    name: 'a message without the reasoning before it',
    script: { reasoning: 'Hm.', text: 'Hello.' },
    conversation: (given) => [user, reference(idOf(given, 'message')), user],
    expected: /answer came back without its reasoning rs_1/,
  },
  {
    name: 'a call without the reasoning before it',
    script: thought,
    conversation: [user, call('c1'), output('c1')],
    expected: /function_call came back without its reasoning rs_1/,
  },
  {
    name: 'a renamed call without the reasoning before it',
    script: thought,
    conversation: [user, call('c9'), output('c9')],
    expected: /function_call came back without its reasoning rs_1/,
  },
  {
    name: 'reasoning of an earlier turn only',
    script: thought,
    conversation: (given) => [
      user,
      reference(idOf(given, 'reasoning')),
      reference(idOf(given, 'message')),
      user,
      call('c1'),
      output('c1'),
    ],
    expected: /function_call came back without its reasoning rs_1/,
  },
  {
    name: 'reasoning without what followed it',
    script: thought,
    conversation: (given) => [user, reference(idOf(given, 'reasoning')), call('c1'), output('c1')],
    expected: /rs_1 came back without the item that followed/,
  },
  {
    name: 'changed reasoning',
    script: thought,
    settings: stateless,
    conversation: (given) => [
      user,
      { ...partOf(given, 'reasoning'), summary: [] },
      { role: 'assistant', content: 'One moment.' },
      call('c1'),
      output('c1'),
    ],
    expected: /rs_1 came back changed/,
  },
  {
    name: 'reasoning of another origin',
    conversation: [
      user,
      { type: 'reasoning', id: 'rs_9', encrypted_content: 'x', summary: [] },
      { role: 'assistant', content: 'Hello.' },
      user,
    ],
    expected: /rs_9 came back changed/,
  },
];
