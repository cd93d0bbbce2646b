import { expect, test } from 'vitest';
import { inboxOf, office, only, pay, yes } from './inbox-site.ts';
import { pickCases } from '../support/sampling.ts';

const rule = {
  type: 'user-approval',
  text: (input: object) => `Pay ${JSON.stringify(input)}?`,
  editable: true,
  remember: { scope: 'thread', match: ['to'] },
} as const;
const remember = { scope: 'thread' as const, match: ['to'] };
const edited = { to: 'Zenith', euros: 5 };
const call = (id: string, to: string) => ({ calls: [pay(id, { to, euros: 500 })] });

/** An office that has asked about a payment to ACME, and then pays Zenith and ACME. */
async function opened(more: object | ((input: unknown) => object) = {}) {
  const script = [call('c1', 'ACME'), { text: 'Done.' }, call('c2', 'Zenith'), { text: 'Done.' }];
  const at = office([...script, call('c3', 'ACME')], {
    toolApproval: {
      pay: (input) => ({ ...rule, ...(typeof more === 'function' ? more(input) : more) }),
    },
    mayAnswer: () => true,
  });
  await at.ask('t1');
  const thread = await at.agent.thread('t1');
  const [request] = thread.activeApprovalRequests;
  if (request === undefined) throw new Error('Nothing was asked.');
  return { ...at, thread, request };
}

/** Ben's answer that edits and remembers, through the inbox or by the agent. */
const ways: [string, (at: Awaited<ReturnType<typeof opened>>) => Promise<unknown>][] = [
  [
    'the inbox',
    async ({ agent }) => {
      const inbox = inboxOf(agent);
      const entry = only((await inbox.list('ben')).entries);
      const answer = yes(entry, { input: edited, remember });
      const outcome = only(await inbox.answer('ben', [{ entry, answer }]));
      return outcome.status === 'refused' ? outcome.error.code : outcome.status;
    },
  ],
  [
    'the agent',
    async ({ agent, thread, request }) =>
      agent
        .respond({ ...request.approve({ input: edited }), remember }, thread, { principal: 'ben' })
        .then(
          () => 'recorded',
          (error: unknown) => Reflect.get(Object(error), 'code'),
        ),
  ],
];

test.each(pickCases(ways, 3))(
  'an answer through %s that edits and remembers decides later calls like the edited one, and not like the asked one',
  async (_, answer) => {
    const at = await opened();
    expect(await answer(at)).toBe('recorded');
    await at.agent.run([], at.thread);
    const [grant] = await at.agent.grants(at.thread);
    expect(grant).toMatchObject({ match: { type: 'fields', fields: { to: 'Zenith' } } });
    const second = await at.ask('t1');
    expect(second.status).toBe('completed');
    expect(at.paid).toEqual([edited, { to: 'Zenith', euros: 500 }]);
    const third = await at.ask('t1');
    expect(third.approvalRequests).toHaveLength(1);
    expect(at.paid).toHaveLength(2);
  },
);

test.each(pickCases(ways, 3))(
  'through %s, an edit is refused with its remembering where the rule allows only the one, and nothing is recorded',
  async (_, answer) => {
    for (const more of [{ editable: ['euros'] }, { remember: undefined }]) {
      const at = await opened(more);
      const before = at.thread.revision;
      expect(await answer(at)).toBe('invalid-answer');
      expect((await at.agent.thread('t1')).revision).toBe(before);
      expect(await at.agent.grants(at.thread)).toEqual([]);
    }
  },
);

test.each(pickCases(ways, 3))(
  'through %s, an edit decides no later call where the rule lets nothing be remembered of what it edits to',
  async (_, answer) => {
    const at = await opened((input) =>
      Reflect.get(Object(input), 'to') === 'ACME' ? {} : { remember: undefined },
    );
    expect(await answer(at)).toBe('recorded');
    await at.agent.run([], at.thread);
    expect(at.paid).toEqual([edited]);
    expect((await at.ask('t1')).approvalRequests).toHaveLength(1);
    expect(at.paid).toHaveLength(1);
  },
);
