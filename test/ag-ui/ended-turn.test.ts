import { createAgUiHandler } from 'holdpoint/ag-ui';
import { expect, test, vi } from 'vitest';
import { book, memoryWorld } from '../support/travel-world.ts';
import { endOf, ofType, poster, runInput, site, user } from './ag-ui-site.ts';

const success = { type: 'success' };

test('a message that is posted again after the conversation has gone on adds nothing, and the client is brought up to date', async () => {
  const at = site([{ text: 'Paris.' }, { text: 'In May.' }]);
  const where = runInput({ messages: [user('u1', 'Where?')] });
  await at.post(where);
  await at.post(runInput({ messages: [user('u2', 'When?')] }));
  const { revision } = await at.agent.thread('t');
  const { events } = await at.post(where);
  expect(endOf(events)).toEqual(success);
  expect(ofType(events, 'MESSAGES_SNAPSHOT')).toMatchObject([
    { messages: [{ id: 'u1' }, { content: 'Paris.' }, { id: 'u2' }, { content: 'In May.' }] },
  ]);
  expect((await at.agent.thread('t')).revision).toBe(revision);
  expect(at.played.requests).toBe(2);
});

test('a message that is posted again while people are asked ends with what is asked', async () => {
  const at = site([{ calls: [book('c1', 'Paris')] }]);
  const said = runInput({ messages: [user('u1')] });
  const { events } = await at.post(said);
  expect(endOf((await at.post(said)).events)).toEqual(endOf(events));
});

test.each(['stuck', 'waiting'] as const)(
  'a run that ends as %s, with nothing asked and nothing to bring, is no success',
  async (status) => {
    const agent = memoryWorld([{ text: 'Hello.' }]).agent();
    const handler = createAgUiHandler({
      agent: {
        thread: agent.thread.bind(agent),
        respond: agent.respond.bind(agent),
        deliver: agent.deliver.bind(agent),
        rights: agent.rights.bind(agent),
        stream(input, thread, options) {
          const { response } = agent.stream(input, thread, options);
          return {
            response,
            async *[Symbol.asyncIterator]() {
              yield { type: 'finish', response: { ...(await response), status } };
              return undefined;
            },
          };
        },
      },
      authorize: () => ({ principal: 'ann' }),
    });
    const { events } = await poster(handler)(runInput({ messages: [user('u1')] }));
    expect(endOf(events)).toBe('thread-stuck');
  },
);

test('a request that somebody else answers just before the run ends is no interrupt of it, and no failure', async () => {
  const at = site([{ calls: [book('c1', 'Paris')] }, { text: 'Booked.' }]);
  const asked = at.agent.rights.bind(at.agent);
  vi.spyOn(at.agent, 'rights').mockImplementationOnce(async (thread, by) => {
    const own = await at.agent.thread('t');
    await at.agent.respond(
      own.activeApprovalRequests.map((request) => request.approve()),
      own,
      { principal: 'bob' },
    );
    return asked(thread, by);
  });
  const { events } = await at.post(runInput({ messages: [user('u1')] }));
  expect(endOf(events)).toEqual({ type: 'success' });
});
