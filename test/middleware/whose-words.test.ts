import type { ModelMessage } from 'ai';
import { resumeMessage } from 'holdpoint/middleware';
import { describe, expect, test } from 'vitest';
import { errorCode } from '../support/error-code.ts';
import { book } from '../support/travel-world.ts';
import { ofThread, scriptedWorld, type Way, ways } from './held-world.ts';
import { pickCases } from '../support/sampling.ts';

const user = (content: string): ModelMessage => ({ role: 'user', content });
const words = user('Book a flight.');
const byAnother = { book: () => ({ type: 'user-approval' as const, notRequester: true }) };

/** Ada writes, and what comes of it is shown on another channel: no history behind `holdPoint` has it. */
async function answeredElsewhere(way: Way, before: readonly string[] = []) {
  const calls = [
    { calls: [book('c1', 'Paris')] },
    { text: 'Booked.' },
    { text: 'Fine.' },
    { text: 'Fine.' },
  ];
  const script = [...before.map(() => ({ text: 'Hello.' })), ...calls];
  const at = scriptedWorld(script, { toolApproval: byAnother });
  const thread = await at.agent.thread('t');
  for (const said of before) await at.agent.run(said, thread, { principal: 'ben' });
  const { approvalRequests } = await at.agent.run('Book a flight.', thread, { principal: 'ada' });
  return {
    ...at,
    approvalRequests,
    send: async (principal: string, messages: ModelMessage[], more = {}) =>
      way.ask({ model: at.model, messages, ...ofThread('t', { principal, ...more }) }),
    thread: async () => at.agent.thread('t'),
    said: async () =>
      (await at.agent.thread('t')).events.flatMap((event) =>
        event.type === 'message-added' ? [[event.principal, event.message.content]] : [],
      ),
  };
}

describe.each(pickCases(ways))(
  'Ada’s words with $name, which were answered on another channel,',
  (way) => {
    async function rejected(before: readonly string[] = []) {
      const at = await answeredElsewhere(way, before);
      const answers = at.approvalRequests.map((request) => request.reject('No.'));
      await at.agent.run(answers, await at.thread(), { principal: 'ben' });
      return at;
    }

    test.each([
      [
        'the whole history',
        ['Hi.'],
        [user('Hi.'), { role: 'assistant' as const, content: 'Hello.' }],
      ],
      ['its end', ['Hi.'], []],
      ['one message', [], []],
    ])('do not become Ben’s, who sends %s again', async (_what, before, history) => {
      const at = await rejected(before);
      const { revision } = await at.thread();
      expect(await errorCode(at.send('ben', [...history, words]))).toBe('invalid-input');
      expect((await at.thread()).revision).toBe(revision);
    });

    test('do not become Ben’s after Ada has withdrawn them', async () => {
      const at = scriptedWorld([]);
      const thread = await at.agent.thread('t');
      await at.agent.run('Book a flight.', thread, { principal: 'ada' }).catch(() => {});
      await at.agent.retract(thread);
      const asked = { model: at.model, messages: [words], ...ofThread('t', { principal: 'ben' }) };
      expect(await errorCode(way.ask(asked))).toBe('invalid-input');
    });

    test('do not become Ben’s after a message that resumes in the same words', async () => {
      const at = scriptedWorld([{ text: 'One.' }, { text: 'Two.' }]);
      const resuming = resumeMessage();
      await at.agent.run('Please continue.', await at.agent.thread('t'), { principal: 'ada' });
      const messages = [
        resuming,
        { role: 'assistant', content: 'One.' } as const,
        user('Please continue.'),
      ];
      const asked = { model: at.model, messages, ...ofThread('t', { principal: 'ben' }) };
      expect(await errorCode(way.ask(asked))).toBe('invalid-input');
    });

    test('are Ben’s under an id of his own, and where his history has hers before', async () => {
      const at = await rejected();
      await at.send('ben', [words], { messageId: 'mine' });
      const reply: ModelMessage = { role: 'assistant', content: 'Booked.' };
      await at.send('ben', [words, reply, words, reply, words]);
      expect((await at.said()).map(([principal]) => principal)).toEqual(['ada', 'ben', 'ben']);
    });

    test('stay hers where Ben answers with them as his history', async () => {
      const at = await answeredElsewhere(way);
      const yes = at.approvalRequests.map((request) => request.approve());
      await at.send('ben', [words], { answers: yes });
      await at.send('ben', [words], { answers: yes });
      expect(at.ran).toHaveLength(1);
      expect(await at.said()).toEqual([['ada', words.content]]);
    });

    test('are a new message of hers where she says them again', async () => {
      const at = await rejected();
      await at.send('ada', [words]);
      expect(await at.said()).toHaveLength(2);
    });
  },
);
