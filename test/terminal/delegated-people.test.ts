import { type AgentThread, type UserInputRequestContent } from 'holdpoint';
import { askInTerminal } from 'holdpoint/terminal';
import { describe, expect, test, vi } from 'vitest';
import { errorCode } from '../support/error-code.ts';
import { book, memoryWorld } from '../support/travel-world.ts';
import {
  childOf,
  desk,
  forOwners,
  only,
  requestIn,
  subjectOf,
  votersOf,
} from '../tools/payment-desk.ts';
import { keys, VirtualTerminal } from './virtual-terminal.ts';

const minute = 60_000;

/** What somebody's terminal drew who approves, and the answers. */
async function approvedBy(person: string, requests: readonly UserInputRequestContent[]) {
  const terminal = new VirtualTerminal();
  const { input, output } = terminal;
  const asking = askInTerminal(requests, { input, output, person });
  await terminal.ends('❯ Reject\n    Reject with a reason');
  const { screen } = terminal;
  await terminal.types(keys.up, keys.enter);
  return { screen, answers: await asking };
}

/** The answers of somebody who is shown nothing. */
async function notAsked(person: string, thread: AgentThread): Promise<unknown> {
  const { input, output } = new VirtualTerminal();
  return askInTerminal(thread.activeRequests, { input, output, person });
}

describe("a sub-agent's quorum in the terminal", () => {
  test('Ada votes and leaves, Ben votes: Ben is not asked again, and Cem is shown that Ada’s vote is gone', async () => {
    const people = new Set(['Ada', 'Ben', 'Cem']);
    const at = await desk({ payer: { mayAnswer: only(people) } });
    const { clerk, thread } = at;
    const ada = await approvedBy('Ada', thread.activeRequests);
    expect(ada.screen).toContain('Asked by: payer\nAsked for by: Eve\n');
    expect(ada.screen).toContain('Approvals: 0 of 2');
    await clerk.run(ada.answers, thread, { principal: 'Ada' });
    expect(await notAsked('Ada', thread)).toEqual([]);
    people.delete('Ada');
    const ben = await approvedBy('Ben', thread.activeRequests);
    expect(ben.screen).toContain('Approvals: 1 of 2\nApproved by: Ada, ');
    const waiting = await clerk.run(ben.answers, thread, { principal: 'Ben' });
    expect(waiting.status).toBe('waiting');
    expect(await notAsked('Ben', thread)).toEqual([]);
    const again = await approvedBy('Ada', thread.activeRequests);
    expect(await errorCode(clerk.run(again.answers, thread, { principal: 'Ada' }))).toBe(
      'not-allowed',
    );
    expect(at.paid).toEqual([]);
    const cem = await approvedBy('Cem', waiting.userInputRequests);
    expect(cem.screen).toContain('Approvals: 1 of 2\nApproved by: Ben, ');
    const done = await clerk.run(cem.answers, thread, { principal: 'Cem' });
    expect(done).toMatchObject({ status: 'completed', text: 'Done.' });
    expect(at.paid).toEqual([{ euros: 900 }]);
  });

  test('Ada, as the sub-agent names her, is not asked in her second session, and Ben is', async () => {
    const at = await desk({ payer: { principalId: subjectOf } });
    const { clerk, thread } = at;
    const ada = await approvedBy('Ada', thread.activeRequests);
    await clerk.run(ada.answers, thread, { principal: { sub: 'Ada', id: 'one' } });
    expect(await notAsked('Ada', thread)).toEqual([]);
    const ben = await approvedBy('Ben', thread.activeRequests);
    await clerk.run(ben.answers, thread, { principal: { sub: 'Ben', id: 'two' } });
    expect(at.paid).toHaveLength(1);
  });

  test('the process dies after the sub-agent has counted Ada’s vote: Ben is shown it after the next run', async () => {
    const at = await desk();
    const { clerk, thread, dying } = at;
    const ada = await approvedBy('Ada', thread.activeRequests);
    dying.threadId = 't';
    const dead = clerk.run(ada.answers, thread, { principal: 'Ada' });
    await expect(dead).rejects.toThrow('The process died.');
    dying.threadId = '';
    expect(votersOf(requestIn(await childOf(at)))).toEqual(['Ada']);
    const opened = await clerk.thread('t');
    const { userInputRequests } = await clerk.run([], opened);
    expect(await notAsked('Ada', opened)).toEqual([]);
    const ben = await approvedBy('Ben', userInputRequests);
    expect(ben.screen).toContain('Approvals: 1 of 2\nApproved by: Ada, ');
    await clerk.run(ben.answers, opened, { principal: 'Ben' });
    expect(at.paid).toHaveLength(1);
  });
});

test('the dialog shows the deadline of the agent tool, and that a late yes is denied; Ada reads when it ended', async () => {
  const people = { mayAnswer: () => true };
  const at = await desk(
    { expiresAfterMs: minute, clerk: people, payer: people },
    {
      type: 'user-approval',
      expiresAfterMs: 2 * minute,
      onExpiry: { type: 'escalate', approvers: ['managers'] },
    },
  );
  const { clerk, thread, clock } = at;
  expect(requestIn(thread)).toMatchObject({ expiresAt: clock.now + minute });
  const ada = await approvedBy('Ada', thread.activeRequests);
  expect(ada.screen).toMatch(/^Until: .+, then it is denied$/m);
  clock.now += minute + 10_000;
  const late = clerk.run(ada.answers, thread, { principal: 'Ada' });
  await expect(late).rejects.toMatchObject({
    code: 'request-closed',
    message: expect.stringContaining(requestIn(thread).requestId),
  });
  const { userInputRequests, text } = await clerk.run([], thread);
  expect([userInputRequests, text]).toEqual([[], 'Done.']);
  expect(at.paid).toEqual([]);
});

test('a call about which nobody could answer asks nothing in the terminal, and a warning says why', async () => {
  const warn = vi.spyOn(console, 'warn').mockReturnValue();
  const world = memoryWorld([{ calls: [book('c1', 'Paris')] }, { text: 'Not booked.' }]);
  const agent = world.agent({ toolApproval: { book: forOwners } });
  const thread = await agent.thread('t');
  const { userInputRequests, text } = await agent.run('Book', thread, { principal: 'Ada' });
  expect(await askInTerminal(userInputRequests, new VirtualTerminal())).toEqual([]);
  expect(text).toBe('Not booked.');
  const warned = String(warn.mock.calls);
  warn.mockRestore();
  expect(warned).toContain('toolApproval.book');
  expect(warned).toContain('no mayAnswer');
  expect(world.ran).toEqual([]);
});
