import { hidePrincipals } from 'holdpoint';
import { expect, test } from 'vitest';
import { book, memoryWorld } from '../support/travel-world.ts';
import { pickCases } from '../support/sampling.ts';

const nameless = { user: 'ben', token: 's3cret' };

/** A thread of Ada's with an open request for two votes, whose agent keeps standing approvals. */
async function asked(options: { principalId?: (principal: unknown) => string } = {}) {
  const world = memoryWorld([{ calls: [book('c1', 'Paris')] }, { text: 'Done.' }]);
  const agent = world.agent({
    ...options,
    mayAnswer: () => true,
    toolApproval: {
      book: { type: 'user-approval', quorum: 2, remember: { scope: 'thread' } },
    },
  });
  const thread = await agent.thread('t');
  const { approvalRequests } = await agent.run('Book.', thread, { principal: 'ada' });
  const [request] = approvalRequests;
  if (request === undefined) throw new Error('Nothing was asked.');
  return { agent, thread, request };
}

type At = Awaited<ReturnType<typeof asked>>;
type By = { principal: unknown };

const ways: [string, (at: At, by: By) => Promise<unknown>][] = [
  ['respond', ({ agent, thread, request }, by) => agent.respond(request.approve(), thread, by)],
  [
    'run with an answer',
    ({ agent, thread, request }, by) => agent.run(request.reject(), thread, by),
  ],
  [
    'run with a message',
    async ({ agent }, by) => agent.run('Book.', await agent.thread('other'), by),
  ],
  ['run without input', ({ agent, thread }, by) => agent.run([], thread, by)],
  [
    'stream',
    ({ agent, thread, request }, by) => agent.stream(request.reject(), thread, by).response,
  ],
  [
    'thread with a history',
    ({ agent }, by) =>
      agent.thread('imported', { messages: [{ role: 'user', content: 'Hello.' }], ...by }),
  ],
  ['withdraw', ({ agent, thread, request }, by) => agent.withdraw(thread, request.requestId, by)],
  [
    'reassign',
    ({ agent, thread, request }, by) => agent.reassign(thread, request.requestId, 'dora', by),
  ],
  [
    'remember',
    ({ agent, thread, request }, by) =>
      agent.remember(thread, request.requestId, { scope: 'thread', match: 'exact' }, by),
  ],
  ['settle', ({ agent, thread }, by) => agent.settle(thread, 'c1', { status: 'retry' }, by)],
  [
    'deliver',
    ({ agent, thread }, by) => agent.deliver(thread, 'c1', { status: 'failed', error: 'No.' }, by),
  ],
  ['retract', ({ agent, thread }, by) => agent.retract(thread, undefined, by)],
  ['stop', ({ agent, thread }, by) => agent.stop(thread, by)],
  ['cancel', ({ agent, thread }, by) => agent.cancel(thread, 'No.', by)],
];

const refusal = {
  code: 'invalid-input',
  message: expect.stringMatching(/names nobody: .*Give it an 'id', or the agent a principalId/),
};

test.each(pickCases(ways, 3))(
  '%s refuses a principal that nothing names, and records nothing',
  async (_, act) => {
    const at = await asked();
    const before = at.thread.revision;
    await expect(act(at, { principal: nameless })).rejects.toMatchObject(refusal);
    expect((await at.agent.thread('t')).revision).toBe(before);
    expect((await at.agent.thread('other')).revision).toBe(0);
  },
);

test.each<[string, unknown]>([
  ['a list', ['ben']],
  ['an object with a blank id', { id: ' ', token: 's3cret' }],
  ['an object without fields', {}],
])('%s names nobody', async (_, principal) => {
  const { agent, thread, request } = await asked();
  const answering = agent.respond(request.approve(), thread, { principal });
  await expect(answering).rejects.toMatchObject(refusal);
});

test('an object that principalId does not name is refused, and the text quotes nothing of it', async () => {
  const { agent, thread, request } = await asked({ principalId: () => '' });
  const error: unknown = await agent
    .respond(request.approve(), thread, { principal: nameless })
    .catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'invalid-input' });
  expect(String(error)).not.toContain('s3cret');
});

/** The request as a browser gets it, once this person has voted. */
async function vote({ agent, thread, request }: At, principal: unknown) {
  await agent.respond(request.approve(), thread, { principal });
  return thread.activeApprovalRequests.map(hidePrincipals);
}

test.each<[string, unknown, string]>([
  ['a text', 'ben', 'ben'],
  ['an object with an id', { id: 'u-17', token: 's3cret' }, 'u-17'],
  ['an object with an id that is a number', { id: 17, token: 's3cret' }, '17'],
])('%s is a name, and the rest of a principal stays on the server', async (_, principal, name) => {
  const shown = await vote(await asked(), principal);
  expect(shown).toMatchObject([{ votes: [{ person: name }] }]);
  expect(JSON.stringify(shown)).not.toContain('s3cret');
});

const principalId = (principal: unknown) => String(Reflect.get(Object(principal), 'user'));

test('principalId names any object', async () => {
  const shown = await vote(await asked({ principalId }), nameless);
  expect(shown).toMatchObject([{ votes: [{ person: 'ben' }] }]);
});

test('whoever has no name may still read what waits', async () => {
  const { agent, thread } = await asked();
  expect(await agent.rights(thread, { principal: nameless })).toHaveLength(1);
});
