import { expect, test } from 'vitest';
import { Proposal } from '../../src/thread/proposal.ts';
import type { ThreadEvent } from '../../src/thread/thread-event.ts';
import { makeEmptyThread } from '../../src/thread/thread-state.ts';

const imported: ThreadEvent = {
  type: 'messages-imported',
  at: 1,
  messages: [{ role: 'user', content: 'Hi' }],
};
const added: ThreadEvent = {
  type: 'message-added',
  at: 1,
  message: { role: 'user', content: 'Ho' },
};

test('a second import, or one that comes later, is a damaged log', () => {
  for (const first of [imported, added]) {
    const proposal = new Proposal(makeEmptyThread('t'));
    proposal.add(first);
    expect(() => proposal.add(imported)).toThrow(expect.objectContaining({ code: 'log-tampered' }));
    const together = new Proposal(makeEmptyThread('t'));
    expect(() => together.add(first, imported)).toThrow(
      expect.objectContaining({ code: 'log-tampered' }),
    );
  }
});
