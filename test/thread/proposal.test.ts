import { memoryStore } from 'holdpoint';
import type { ThreadEvent } from 'holdpoint';
import { expect, test } from 'vitest';
import { Proposal } from '../../src/thread/proposal.ts';
import { ThreadLog } from '../../src/thread/thread-log.ts';
import type { ThreadHead } from '../../src/thread/thread-head.ts';
import { makeEmptyThread } from '../../src/thread/thread-state.ts';

const at = 1;
const first = { step: 0, index: 0 };
const second = { step: 0, index: 1 };
const outcome = { status: 'succeeded', output: null } as const;
const said = { type: 'message-added', at, message: { role: 'user', content: 'Hi' } } as const;
const call = (toolCallId: string) =>
  ({ type: 'tool-call', toolCallId, toolName: 'book', input: { to: 'Rome' } }) as const;

const proposed: readonly ThreadEvent[] = [
  said,
  { type: 'run-started', at, runId: 'r', leaseUntil: 2 },
  {
    type: 'step-finished',
    at,
    step: 0,
    message: { role: 'assistant', content: [call('a'), call('b')] },
    finishReason: 'tool-calls',
  },
];

/** Every kind of event that writes into an array or a call that the head has already. */
const following: readonly ThreadEvent[] = [
  {
    type: 'request-opened',
    at,
    place: first,
    request: {
      type: 'approval-request',
      requestId: 'q1',
      threadId: 't',
      text: 'Book?',
      digest: 'd',
      createdAt: at,
    },
  },
  said,
  { type: 'call-started', at, ...second },
  {
    type: 'request-opened',
    at,
    beside: second,
    request: {
      type: 'question-request',
      kind: 'question',
      requestId: 'q2',
      threadId: 't',
      text: 'Seat?',
      fields: [{ key: 'seat', label: 'Seat', options: [], min: 0, max: 0, freeText: 'only' }],
      allowDismiss: true,
      createdAt: at,
    },
  },
  {
    type: 'request-answered',
    at,
    response: { type: 'question-response', requestId: 'q2', status: 'dismissed' },
  },
  { type: 'answer-delivered', at, requestId: 'q2' },
  {
    type: 'request-answered',
    at,
    response: { type: 'approval-response', requestId: 'q1', approved: true },
  },
  { type: 'call-started', at, ...first },
  { type: 'call-lost', at, ...first, recoverAt: 5 },
  { type: 'recovery-failed', at, ...first, recoverAt: 9 },
  { type: 'call-ended', at, ...first, outcome },
  { type: 'call-ended', at, ...second, outcome },
  { type: 'caller-changed', at, callerId: 'c', state: 'waiting', until: 9 },
  { type: 'run-ended', at },
  said,
  { type: 'message-retracted', at },
];

test('a head that was read stays as it was, whatever is proposed after it', () => {
  const events = [...proposed, ...following];
  const proposal = new Proposal(makeEmptyThread('t'));
  const heads = events.map((event) => {
    proposal.add(event);
    return { read: proposal.head, copy: structuredClone(proposal.head) };
  });
  for (const { read, copy } of heads) expect(read).toEqual(copy);
  const unread = new Proposal(makeEmptyThread('t'));
  unread.add(...events);
  expect(proposal.head).toEqual(unread.head);
  expect(proposal.events).toEqual(unread.events);
});

test('a head that was read stays as it was when its events are appended', async () => {
  const log = new ThreadLog('t', {
    store: memoryStore(),
    now: () => at,
    origin: {},
    refuse: () => {},
    onAppended: () => {},
  });
  const heads: { read: ThreadHead; copy: ThreadHead }[] = [];
  for (const events of [proposed, following]) {
    await log.commit((proposal) => {
      proposal.add(...events);
      heads.push({ read: proposal.head, copy: structuredClone(proposal.head) });
    });
    heads.push({ read: log.state.head, copy: structuredClone(log.state.head) });
  }
  for (const { read, copy } of heads) expect(read).toEqual(copy);
  expect(heads[1]?.read.calls.map(({ idempotencyKey }) => idempotencyKey)).toEqual([
    expect.stringMatching(/\.0\.0$/),
    expect.stringMatching(/\.0\.1$/),
  ]);
});
