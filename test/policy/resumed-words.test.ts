import { approve } from 'holdpoint';
import { auditTrail } from 'holdpoint/audit';
import { createUiHandler } from 'holdpoint/ui';
import { resumeThread } from 'holdpoint/worker';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { errorCode } from '../support/error-code.ts';
import { finishPart } from '../support/streamed-model.ts';
import { post } from '../ui/chat-page.ts';
import { call } from '../ui/streaming-site.ts';
import {
  paying,
  payDesk,
  resumingChannels,
  sayAndStop,
  silence,
  words,
} from './resuming-channels.ts';
import { pickCases } from '../support/sampling.ts';

const byAnother = () => ({ type: 'user-approval' as const, notRequester: true });
const standing = () => ({
  type: 'user-approval' as const,
  remember: { scope: 'principal' as const, match: 'any' as const },
});

const again = [[...call('c2', 'pay', '{"euros":5000}'), finishPart('tool-calls')]];

beforeEach(() => {
  vi.spyOn(console, 'warn').mockReturnValue();
});

describe.each(pickCases(resumingChannels, 2))(
  'a reply stopped before its first word, $name',
  (channel) => {
    test('is written when Ben wants it after all, and the words stay Ada’s', async () => {
      const desk = payDesk([silence(), ...paying], { toolApproval: { pay: byAnother } });
      await sayAndStop(desk, channel, 'ada');
      const before = await desk.said();
      await channel.resume(desk, 'ben');
      expect(await desk.said()).toEqual(before);
      const { events } = await desk.thread();
      expect(events.map(({ type }) => type)).not.toContain('message-retracted');
      const asked = await desk.request();
      expect(asked.requestedBy).toBe('ada');
      expect(await errorCode(desk.run(approve(asked), { principal: 'ada' }))).toBe('not-allowed');
      expect(desk.paid).toEqual([]);
      await desk.run(approve(asked), { principal: 'ben' });
      expect(desk.paid).toEqual([{ euros: 5000 }]);
    });

    test('is not paid for by Ada’s standing approval, where she wants the reply to Ben’s words', async () => {
      const desk = payDesk([...paying, silence(), ...again], { toolApproval: { pay: standing } });
      await desk.run('pay me 1', { principal: 'ada' });
      await desk.run(approve(await desk.request(), { remember: true }), { principal: 'ada' });
      expect(desk.paid).toHaveLength(1);
      await sayAndStop(desk, channel, 'ben');
      await channel.resume(desk, 'ada');
      expect((await desk.request()).requestedBy).toBe('ben');
      expect(desk.paid).toHaveLength(1);
    });
  },
);

test.each([
  ['Ada', 'ada', 'admin', []],
  ['Eve herself', 'eve', 'admin', [{ euros: 5000 }]],
  ['Eve herself, who is no admin', 'eve', 'user', []],
])(
  'a stopped turn of Eve’s that %s resumes sees no role but Eve’s',
  async (_who, principal, role, paid) => {
    const [channel] = resumingChannels;
    if (channel === undefined) throw new Error('There is no channel.');
    const toolApproval = {
      pay: (_input: unknown, { runtimeContext }: { runtimeContext: Record<string, unknown> }) =>
        runtimeContext['role'] === 'admin' ? ('approved' as const) : ('user-approval' as const),
    };
    const desk = payDesk([silence(), ...paying], { toolApproval });
    await sayAndStop(desk, channel, 'eve');
    await desk.run([], { principal, runtimeContext: { role }, resumeStopped: true });
    expect(desk.paid).toEqual(paid);
  },
);

test('words that wait for a reply stay Ada’s behind holdPoint, though Ben has written since on another channel', async () => {
  const held = resumingChannels.find(({ name }) => name === 'holdPoint');
  if (held === undefined) throw new Error('There is no such channel.');
  const down = new Error('down');
  const desk = payDesk([down, down, ...paying], { toolApproval: { pay: byAnother } });
  await held.say(desk, 'ada');
  await expect(desk.run('hello', { principal: 'ben' })).rejects.toThrow('down');
  const before = await desk.said();
  await held.resume(desk, 'eve');
  expect(await desk.said()).toEqual(before);
  expect((await desk.request()).requesters).toEqual(['ada', 'ben']);
  expect(desk.paid).toEqual([]);
});

/** A desk whose thread has messages without a reply, which people have sent one after another. */
async function unanswered(...senders: readonly string[]) {
  const desk = payDesk([...senders.map(() => new Error('down')), ...paying]);
  for (const [index, principal] of senders.entries()) {
    const run = desk.run(`pay ${principal}`, { principal, messageId: `m${index + 1}` });
    await expect(run).rejects.toThrow('down');
  }
  const edit = async (principal: string, id: string): Promise<Response> => {
    const handler = createUiHandler({ agent: desk.agent, authorize: () => ({ principal }) });
    const message = { id, role: 'user', parts: [{ type: 'text', text: words }] };
    return handler(post({ id: 't', message, messageId: id }));
  };
  return { ...desk, edit };
}

describe('an edit of a message without a reply, on a page', () => {
  test.each([
    ['Ben’s edit of Ada’s message', ['ada'], 'ben', 'm1'],
    ['Ada’s edit of hers, where Ben has written since', ['ada', 'ben'], 'ada', 'm1'],
    ['Ada’s edit of hers, where Ben has written between', ['ada', 'ben', 'ada'], 'ada', 'm1'],
    ['Ada’s edit of Ben’s, where she has written since', ['ben', 'ada'], 'ada', 'm1'],
  ] as const)('%s is refused, and changes nothing', async (_name, senders, principal, id) => {
    const desk = await unanswered(...senders);
    const { revision } = await desk.thread();
    const response = await desk.edit(principal, id);
    expect([response.status, await response.text()]).toEqual([
      403,
      expect.stringContaining('not-allowed'),
    ]);
    expect((await desk.thread()).revision).toBe(revision);
  });

  test('Ada’s edit of the last one is hers, in one append with what it takes back', async () => {
    const desk = await unanswered('ben', 'ada');
    const { revision } = await desk.thread();
    await (await desk.edit('ada', 'm2')).text();
    const appended = (await desk.thread()).events.slice(revision).map(({ type }) => type);
    expect(appended.slice(0, 3)).toEqual(['message-retracted', 'message-added', 'run-started']);
    expect((await desk.request()).requesters).toEqual(['ben', 'ada']);
  });

  test('what Ada has withdrawn is not said by Ben, from a page that still shows it', async () => {
    const desk = await unanswered('ada');
    await desk.agent.retract(await desk.thread(), 'm1', { principal: 'moderator' });
    expect((await desk.edit('ben', 'm1')).status).toBe(403);
    expect((await desk.thread()).events.at(-1)).toMatchObject({
      type: 'message-retracted',
      principal: 'moderator',
    });
    expect((await desk.edit('ada', 'm1')).status).toBe(200);
  });

  test("one of two people with the same email can't edit what the other has said", async () => {
    const desk = payDesk([new Error('down'), ...paying]);
    const ada = { id: 'ada', email: 'office@trips.test' };
    const run = desk.run('pay ada', { principal: ada, messageId: 'm1' });
    await expect(run).rejects.toThrow('down');
    const edit = desk.run(words, {
      principal: { ...ada, id: 'ben' },
      messageId: 'm1',
      replaces: (await desk.thread()).events.findIndex(({ type }) => type === 'message-added') + 1,
    });
    expect(await errorCode(edit)).toBe('not-allowed');
  });
});

describe('a turn that was stopped', () => {
  test('is resumed with one append, which says so', async () => {
    const desk = payDesk([silence(), ...paying]);
    const [channel] = resumingChannels;
    if (channel === undefined) throw new Error('There is no channel.');
    await sayAndStop(desk, channel, 'ada');
    const { revision } = await desk.thread();
    await channel.resume(desk, 'ben');
    const [first] = (await desk.thread()).events.slice(revision);
    expect(first).toMatchObject({
      type: 'run-started',
      resumesStopped: true,
      principal: 'ben',
    });
    const { rows } = await auditTrail(await desk.thread());
    expect(rows).toContainEqual(
      expect.objectContaining({
        what: 'run started',
        details: expect.objectContaining({ resumesStopped: true }),
      }),
    );
  });

  test('is left alone by a worker, by a scheduler and by a run of nothing', async () => {
    const desk = payDesk([silence(), ...paying]);
    const [channel] = resumingChannels;
    if (channel === undefined) throw new Error('There is no channel.');
    await sayAndStop(desk, channel, 'ada');
    const { revision } = await desk.thread();
    await resumeThread(desk.agent, 't');
    expect((await desk.run([], { principal: 'ada' })).status).toBe('cancelled');
    expect((await desk.thread()).revision).toBe(revision);
    const scheduled = desk.run([], { resumeStopped: true, onlyWhenDue: true });
    expect(await errorCode(scheduled)).toBe('invalid-input');
    expect(desk.heard.requests).toBe(1);
  });

  test('is stopped again where it is stopped after that, and resumed once by two who want it', async () => {
    const desk = payDesk([silence(), silence(), ...paying]);
    const [channel] = resumingChannels;
    if (channel === undefined) throw new Error('There is no channel.');
    await sayAndStop(desk, channel, 'ada');
    await sayAndStop(desk, { ...channel, say: channel.resume }, 'ben');
    expect((await desk.run([], {})).status).toBe('cancelled');
    await Promise.all([channel.resume(desk, 'ben'), channel.resume(desk, 'ada')]);
    expect(desk.heard.requests).toBe(3);
    expect(await desk.said()).toHaveLength(1);
  });
});
