import type { ViolationRow } from './violation-row.ts';

const user = { role: 'user', content: 'Book Paris' };
const call = (id: string, text = '{"city":"Paris"}') => ({
  id,
  type: 'function',
  function: { name: 'book', arguments: text },
});
const asking = (...calls: object[]) => ({ role: 'assistant', content: null, tool_calls: calls });
const result = (id: string) => ({ role: 'tool', tool_call_id: id, content: '' });

/** A chat completions conversation without a fault. */
export const goodChat = [
  { role: 'system', content: 'Be brief.' },
  user,
  asking(call('c1'), call('c2')),
  result('c2'),
  result('c1'),
  { role: 'assistant', content: 'Booked.' },
  user,
  asking(call('c1')),
  result('c1'),
];

/** Faults that every server of chat completions refuses. */
export const chatViolations: ViolationRow[] = [
  {
    name: 'a call without a result',
    conversation: [user, asking(call('c1'), call('c2')), result('c1')],
    expected: /call c2 has no tool message/,
  },
  {
    name: 'a message between a call and its result',
    conversation: [user, asking(call('c1')), user, result('c1')],
    expected: /call c1 has no tool message|no call c1 right before/,
  },
  {
    name: 'a result that nobody asked for',
    conversation: [user, asking(call('c1')), result('c1'), result('c2')],
    expected: /no call c2 right before/,
  },
  {
    name: 'a result without any call',
    conversation: [user, result('c1')],
    expected: /no call c1 right before/,
  },
  {
    name: 'a second result',
    conversation: [user, asking(call('c1')), result('c1'), result('c1')],
    expected: /c1 is answered twice/,
  },
  {
    name: 'two calls of one id',
    conversation: [user, asking(call('c1'), call('c1')), result('c1')],
    expected: /two calls have one id/,
  },
  {
    name: 'an id that is too long',
    conversation: [user, asking(call('c'.repeat(41))), result('c'.repeat(41))],
    expected: /tool_calls\.0\.id: Too big/,
  },
  {
    name: 'arguments that are no JSON',
    conversation: [user, asking(call('c1', '{"city":')), result('c1')],
    expected: /arguments: is not JSON text/,
  },
  {
    name: 'a part about approval',
    conversation: [
      user,
      { role: 'assistant', content: [{ type: 'tool-approval-request', approvalId: 'a' }] },
    ],
    expected: /tool-approval-request was sent/,
  },
  {
    name: 'an assistant message that says nothing',
    conversation: [user, { role: 'assistant', content: '' }, user],
    expected: /needs content or tool calls/,
  },
  {
    name: 'an empty list of calls',
    conversation: [user, { role: 'assistant', content: 'Hm.', tool_calls: [] }, user],
    expected: /tool_calls: Too small/,
  },
  {
    name: 'an empty list of parts',
    conversation: [{ role: 'user', content: [] }],
    expected: /content: .*Too small/,
  },
  { name: 'no message', conversation: [], expected: /messages: Too small/ },
  {
    name: 'an unknown role',
    conversation: [user, { role: 'approval', content: 'yes' }],
    expected: /messages\.1\.role: /,
  },
  {
    name: 'an unknown type of part',
    conversation: [{ role: 'user', content: [{ type: 'tool-result', text: 'x' }] }],
    expected: /content: .*0\.type: /,
  },
  {
    name: 'a field that messages do not have',
    conversation: [{ ...user, requestId: 'r1' }],
    expected: /Unrecognized key: "requestId"/,
  },
];

/** What OpenAI alone refuses. */
export const openaiChatViolations: ViolationRow[] = [
  {
    name: 'reasoning, which the API does not take',
    conversation: [user, { role: 'assistant', content: 'Hi.', reasoning_content: 'Hm.' }, user],
    expected: /reasoning_content is unknown/,
  },
];

const thought = { reasoning: 'Paris it is.', calls: [{ id: 'c1', name: 'book', input: {} }] };

/** What servers with thinking models refuse. */
export const compatibleChatViolations: ViolationRow[] = [
  {
    name: 'a call without the reasoning before it',
    script: thought,
    conversation: [user, asking(call('c1', '{}')), result('c1')],
    expected: /reasoning_content must come back/,
  },
  {
    name: 'a renamed call without the reasoning before it',
    script: thought,
    conversation: [user, asking(call('c9', '{}')), result('c9')],
    expected: /reasoning_content must come back/,
  },
  {
    name: 'changed reasoning',
    script: thought,
    conversation: [user, { ...asking(call('c1', '{}')), reasoning_content: 'Rome.' }, result('c1')],
    expected: /reasoning_content must come back/,
  },
];
