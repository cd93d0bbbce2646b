import { type AgentOptions, HoldpointError, mayAnswerByRole, type UserApproval } from 'holdpoint';
import { askUserQuestion } from 'holdpoint/tools';
import { describe, expect, test } from 'vitest';
import { errorCode } from '../support/error-code.ts';
import { book, memoryWorld, travelTools } from '../support/travel-world.ts';

const roles = new Map<unknown, string[]>([
  ['ada', ['owners']],
  ['ben', ['owners', 'finance']],
  ['cleo', ['finance', 'cleo']],
  ['dora', ['dora']],
  ['constructor', ['guests']],
]);
const rolesOf = (principal: unknown): string[] => roles.get(principal) ?? [];
const mayAnswer = mayAnswerByRole({ roles: rolesOf, otherwise: 'owners' });

/** A request that somebody's message has led to, and what becomes of answers to it. */
async function askFor(
  principal: unknown,
  status: UserApproval | 'user-approval' = 'user-approval',
  options: Partial<AgentOptions> = {},
) {
  const world = memoryWorld([{ calls: [book('c1', 'Paris')] }, { text: 'Done.' }]);
  const agent = world.agent({ toolApproval: { book: status }, mayAnswer, ...options });
  const thread = await agent.thread('t');
  const asked = await agent.run('Book', thread, principal === undefined ? {} : { principal });
  const [request] = asked.approvalRequests;
  if (request === undefined) throw new Error('Nothing was asked.');
  const approve = async (by: unknown) =>
    errorCode(agent.respond(request.approve(), thread, { principal: by }));
  const reject = async (by: unknown) =>
    errorCode(agent.respond(request.reject('No.'), thread, { principal: by }));
  return { ...world, agent, thread, request, approve, reject };
}

describe('an agent whose people answer by role', () => {
  test('lets the default role approve a plain request, and nobody else', async () => {
    const { approve } = await askFor('ada');
    expect(await approve('cleo')).toBe('not-allowed');
    expect(await approve('zoe')).toBe('not-allowed');
    expect(await approve('ben')).toBe('no error');
  });

  test('lets a role in approvers approve, and not the default role', async () => {
    const { approve } = await askFor('ada', { type: 'user-approval', approvers: ['finance'] });
    expect(await approve('ada')).toBe('not-allowed');
    expect(await approve('dora')).toBe('not-allowed');
    expect(await approve('cleo')).toBe('no error');
  });

  test('lets nobody approve what they asked for, also as somebody spelled otherwise', async () => {
    const { approve, reject } = await askFor('ada', 'user-approval', {
      mayAnswer: mayAnswerByRole({ roles: () => ['owners'], otherwise: 'owners' }),
    });
    expect(await approve('ada')).toBe('not-allowed');
    expect(await approve(' ADA')).toBe('not-allowed');
    expect(await approve({ id: 'ada' })).toBe('not-allowed');
    expect(await reject('ada')).toBe('no error');
  });

  test('leaves it to a rule to exclude the requester where it does, so that rights say why', async () => {
    const { agent, thread, approve } = await askFor('ada', {
      type: 'user-approval',
      notRequester: true,
    });
    expect(await agent.rights(thread, { principal: 'ada' })).toMatchObject([
      { refusal: 'requester' },
    ]);
    expect(await approve('ada')).toBe('not-allowed');
    expect(await approve('ben')).toBe('no error');
  });

  test('lets none of several people approve for whom the agent works', async () => {
    const world = memoryWorld([{ fail: 'overloaded' }, { calls: [book('c1', 'Paris')] }]);
    const agent = world.agent({ mayAnswer });
    const thread = await agent.thread('t');
    await agent.run('Book', thread, { principal: 'ada' }).catch(() => undefined);
    const { approvalRequests } = await agent.run('And?', thread, { principal: 'ben' });
    const approvals = approvalRequests.map((request) => request.approve());
    for (const principal of ['ada', 'ben'])
      expect(await errorCode(agent.respond(approvals, thread, { principal }))).toBe('not-allowed');
  });

  test('knows people who are objects by the principalId of the agent', async () => {
    const byMail = {
      principalId: readMail,
      mayAnswer: mayAnswerByRole({ ...staff, principalId: readMail }),
    };
    const { approve } = await askFor({ mail: 'ada@x', session: 1 }, 'user-approval', byMail);
    expect(await approve({ mail: 'ada@x', session: 2 })).toBe('not-allowed');
    expect(await approve({ mail: 'ben@x', session: 1 })).toBe('no error');
  });

  test.each([undefined, null, '', ' ', true, 7])('asks no role of nobody: %j', async (nobody) => {
    const asked: unknown[] = [];
    const noting = (principal: unknown): string[] => {
      asked.push(principal);
      return ['owners'];
    };
    const may = mayAnswerByRole({ roles: noting, otherwise: 'owners' });
    const { request } = await askFor('ada');
    const about = { request, response: request.reject(), channel: undefined };
    expect(await may({ ...about, principal: nobody })).toBe(false);
    expect(asked).toEqual([]);
  });

  test('lets nobody approve if it is not known who asked, and says what to pass', async () => {
    const { agent, thread, request, approve, reject } = await askFor(undefined);
    const refused = agent.respond(request.approve(), thread, { principal: 'ben' });
    await expect(refused).rejects.toThrow('Pass principal with each message');
    await expect(refused).rejects.toMatchObject({ requestId: request.requestId });
    expect(await approve('zoe')).toBe('not-allowed');
    expect(await reject('ben')).toBe('no error');
  });

  test('lets the default role answer questions, also about their own wishes', async () => {
    const question = {
      header: 'City',
      question: 'Where to?',
      multiSelect: false,
      options: [
        { label: 'Rome', description: 'South.' },
        { label: 'Oslo', description: 'North.' },
      ],
    };
    const ask = { id: 'c1', name: 'ask', input: { questions: [question] } };
    const world = memoryWorld([{ calls: [ask] }, { text: 'Done.' }]);
    const tools = { ...travelTools(world.ran), ask: askUserQuestion() };
    const agent = world.agent({ mayAnswer, tools, toolApproval: {} });
    const thread = await agent.thread('t');
    await agent.run('Book', thread, { principal: 'ada' });
    const rights = async (principal: unknown) => agent.rights(thread, { principal });
    expect(await rights('ada')).toMatchObject([{ mayAnswer: true }]);
    expect(await rights('cleo')).toMatchObject([{ mayAnswer: false, refusal: 'not-approver' }]);
  });

  test('lets somebody answer whose name the request was reassigned to', async () => {
    const { agent, thread, request, approve } = await askFor('ada');
    await agent.reassign(thread, request.requestId, 'dora', { principal: 'ben' });
    expect(await approve('cleo')).toBe('not-allowed');
    expect(await approve('dora')).toBe('no error');
  });

  test('lets nobody reassign what they asked for to somebody who approves it for them', async () => {
    const { agent, thread, request } = await askFor('ada');
    const reassigning = agent.reassign(thread, request.requestId, 'dora', { principal: 'ada' });
    expect(await errorCode(reassigning)).toBe('not-allowed');
  });

  test('does not use a standing approval of the person who asks now', async () => {
    const world = memoryWorld([
      { calls: [book('c1', 'Paris')] },
      { text: 'Done.' },
      { calls: [book('c2', 'Paris')] },
      { text: 'Done.' },
      { calls: [book('c3', 'Paris')] },
    ]);
    const status = { type: 'user-approval', remember: true } as const;
    const agent = world.agent({ mayAnswer, toolApproval: { book: status } });
    const thread = await agent.thread('t');
    const { approvalRequests } = await agent.run('Book', thread, { principal: 'ada' });
    const remember = { scope: 'thread', match: 'exact' } as const;
    const approvals = approvalRequests.map((request) => request.approve({ remember }));
    await agent.run(approvals, thread, { principal: 'ben' });
    expect((await agent.run('Again', thread, { principal: 'ada' })).status).toBe('completed');
    expect(world.ran).toHaveLength(2);
    expect((await agent.run('Again', thread, { principal: 'ben' })).status).toBe('waiting');
  });

  test.each(['constructor', 'toString', '__proto__'])(
    'gives nobody a right for being called, or being asked as, %s',
    async (name) => {
      const { approve } = await askFor('ada', { type: 'user-approval', approvers: [name] });
      for (const person of ['ben', name, { id: name }])
        expect(await approve(person)).toBe('not-allowed');
    },
  );
});

const readMail = (principal: unknown): string => String(Object(principal).mail);
const staff = { roles: () => ['owners'], otherwise: 'owners' };

describe('the options of mayAnswerByRole', () => {
  test('are refused at once where they are not valid', () => {
    // @ts-expect-error -- what JavaScript may pass
    expect(() => mayAnswerByRole({ ...staff, rolls: () => [] })).toThrow("did you mean 'roles'?");
    // @ts-expect-error -- what JavaScript may pass
    expect(() => mayAnswerByRole({ otherwise: 'owners' })).toThrow('needs roles');
    // @ts-expect-error -- what JavaScript may pass
    expect(() => mayAnswerByRole({ roles: () => [] })).toThrow('needs otherwise');
    expect(() => mayAnswerByRole({ ...staff, otherwise: '' })).toThrow('needs otherwise');
  });

  test('roles that are no list let nobody answer, also where a text has the role in it', async () => {
    const { request } = await askFor('ada');
    // @ts-expect-error -- what JavaScript may return
    const may = mayAnswerByRole({ roles: () => 'all owners', otherwise: 'owners' });
    const asked = { principal: 'ben', channel: undefined, request, response: request.approve() };
    await expect(may(asked)).rejects.toThrow('must return a list; got string');
  });

  test('roles may come later, and what they throw is thrown', async () => {
    const later = mayAnswerByRole({ ...staff, roles: async (who) => rolesOf(who) });
    const { approve } = await askFor('ada', 'user-approval', { mayAnswer: later });
    expect(await approve('cleo')).toBe('not-allowed');
    expect(await approve('ben')).toBe('no error');
    const fault = new HoldpointError('not-allowed', 'The directory is down.');
    const down = mayAnswerByRole({ ...staff, roles: async () => Promise.reject(fault) });
    const other = await askFor('ada', 'user-approval', { mayAnswer: down });
    expect(await other.approve('ben')).toBe('not-allowed');
  });
});
