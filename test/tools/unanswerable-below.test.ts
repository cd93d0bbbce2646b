import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { everyStore } from '../support/every-store.ts';
import { type Desk, recorded, resumeTwice, say } from './desk-stories.ts';
import { desk, only, quorum } from './payment-desk.ts';

const mayAnswer = only(new Set(['Ada', 'Ben']));
const owners = { ...quorum, approvers: ['owners'] };
/* A rule as a function: only its call shows whom it names. */
const byFunction = { toolApproval: { pay: () => owners } };

beforeEach(() => {
  vi.spyOn(console, 'warn').mockReturnValue();
});
afterEach(() => {
  vi.restoreAllMocks();
});

/** The sub-agent's thread, as a process sees it that starts now. */
async function threadBelow(at: Desk) {
  const [summary] = await at.store.list({ agent: 'payer' });
  const { payer } = await at.startProcess();
  return payer.thread(summary?.threadId ?? '');
}

describe.each(everyStore())("$name: a sub-agent's rule names approvers", ({ start }) => {
  test.each([
    ['neither agent has a mayAnswer', {}],
    ['only the agent above has one', { mayAnswer }],
  ])(
    '%s: the call fails with the reason, and no process waits for an answer',
    async (_who, clerk) => {
      using kept = await start();
      const at = await desk({ open: kept.open, clerk, payer: byFunction });
      const error = expect.stringContaining('no mayAnswer');
      expect(await threadBelow(at)).toMatchObject({ status: 'idle' });
      expect((await threadBelow(at)).calls).toMatchObject([
        { outcome: { status: 'failed', error } },
      ]);
      expect(at.thread.events.filter(({ type }) => type === 'request-opened')).toEqual([]);
      await resumeTwice(at);
      expect(at.paid).toEqual([]);
    },
  );

  test('a process without its mayAnswer lets nobody answer, and the next with it lets two', async () => {
    using kept = await start();
    const at = await desk({ open: kept.open, payer: { ...byFunction, mayAnswer } });
    const without = await at.startProcess({ payer: { mayAnswer: undefined } });
    for (const person of ['Eve', 'Ada', 'Ben']) {
      expect(await say(without, person)).toBe('not-allowed');
    }
    expect(await recorded(at)).toEqual([]);
    expect(await say(await at.startProcess(), 'Ada')).toBe('no error');
    expect(await say(await at.startProcess(), 'Ben')).toBe('no error');
    await resumeTwice(at);
    expect(at.paid).toHaveLength(1);
  });
});
