import { createAgUiHandler } from 'holdpoint/ag-ui';
import type { AgentOptions } from 'holdpoint';
import { createUiHandler } from 'holdpoint/ui';
import { describe, expect, test } from 'vitest';
import { errorCode } from '../support/error-code.ts';
import { book, memoryWorld } from '../support/travel-world.ts';
import { waitingThread } from '../support/waiting-thread.ts';
import { pickCases } from '../support/sampling.ts';

const fail = (): never => {
  throw new Error('Nobody.');
};
const authorize = () => ({ principal: 'ann', channel: 'web' });
const origin = 'http://app.example';
const script = [{ calls: [book('c1', 'Paris')] }, { text: 'Done.' }];
const names = [
  'principal',
  'person',
  'approver',
  'approvers',
  'approvedBy',
  'actor',
  'by',
  'onBehalfOf',
  'channel',
  'role',
  'votes',
  'quorum',
  'at',
];

/** Row 112: who answers is what the app's authentication says, and nothing that an answer says. */
describe('an answer that names who gives it', () => {
  test.each(pickCases(names, 3))('is refused: %s', async (name) => {
    const world = memoryWorld(script);
    const agent = world.agent();
    const { thread, approvalRequests } = await agent.run('Book', await agent.thread('t'));
    const answers = approvalRequests.map((request) => ({ ...request.approve(), [name]: 'owner' }));
    const before = JSON.stringify(thread);
    expect(await errorCode(agent.respond(answers, thread, { principal: 'ann' }))).toBe(
      'invalid-answer',
    );
    expect(JSON.stringify(thread)).toBe(before);
    expect(world.ran).toEqual([]);
  });

  test.each(pickCases(names, 3))('is no way past the route of a page either: %s', async (name) => {
    const { agent, request } = await waitingThread([{ text: 'Done.' }]);
    const handler = createUiHandler({
      agent,
      authorize,
    });
    const { requestId } = request;
    const answer = { type: 'approval-response', requestId, approved: true };
    const send = async (body: object): Promise<Response> =>
      handler(
        new Request(`${origin}/chat`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ id: 't', ...body }),
        }),
      );
    expect((await send({ answers: [{ ...answer, [name]: 'owner' }] })).status).toBe(400);
    expect((await agent.thread('t')).activeRequests).toHaveLength(1);
    const response = await send({ answers: [answer], [name]: 'owner' });
    await response.text();
    const { events } = await agent.thread('t');
    const recorded = events.filter(({ type }) => type === 'request-answered');
    expect(recorded).toMatchObject(response.ok ? [{ principal: 'ann', channel: 'web' }] : []);
  });
});

describe('the log names who answered, as text', () => {
  const ben = { id: 7, name: 'Ben', token: 'secret' };
  test.each<[string, unknown, AgentOptions['principalId'], string | undefined]>([
    ['a text', 'ben', undefined, 'ben'],
    ['an object with an id', ben, undefined, '7'],
    ['what principalId gives', ben, (principal) => String(Object(principal).name), 'Ben'],
    ['nobody', undefined, undefined, undefined],
    ['nobody, where principalId throws', ben, () => fail(), undefined],
  ])('%s', async (_, principal, principalId, person) => {
    const world = memoryWorld(script);
    const agent = world.agent(principalId && { principalId });
    const { thread, approvalRequests } = await agent.run('Book', await agent.thread('t'));
    const answers = approvalRequests.map((request) => request.reject('No'));
    await agent.respond(answers, thread, { principal });
    const answered = thread.events.filter(({ type }) => type === 'request-answered');
    expect(answered.map((event) => ({ person: undefined, ...event }).person)).toEqual([person]);
    await thread.verify();
  });
});

/** Row 107: mail scanners and link previews fetch every link. */
test.each(['GET', 'HEAD', 'OPTIONS'])(
  '%s decides nothing, whatever its URL says',
  async (method) => {
    const at = await waitingThread([{ text: 'Done.' }]);
    const { requestId } = at.request;

    const query = `id=t&threadId=t&requestId=${requestId}&approved=true&approve=1&answers=${requestId}`;
    for (const handler of [
      createUiHandler({ agent: at.agent, authorize }),
      createAgUiHandler({ agent: at.agent, authorize }),
    ]) {
      const response = await handler(new Request(`${origin}/chat?${query}`, { method }));
      await response.text();
    }
    await at.unchanged();
  },
);
