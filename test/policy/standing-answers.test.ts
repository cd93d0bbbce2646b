import { type MayAnswer, memoryStore } from 'holdpoint';
import { describe, expect, test } from 'vitest';
import { AgentOffice, ask, pay } from '../support/agent-office.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { book, travelWorld } from '../support/travel-world.ts';

const paris = (id: string) => ({ calls: [book(id, 'Paris')] });
const script = [paris('c1'), { text: 'Booked.' }, paris('c2'), { text: 'Again.' }, paris('c3')];

/** The staff who may answer now. */
function staff(...names: string[]) {
  const people = new Set(names);
  const seen: unknown[] = [];
  const mayAnswer: MayAnswer = ({ principal, channel, request, response }) => {
    seen.push({ principal, channel, response, text: request.text });
    return people.has(String(principal));
  };
  return { people, seen, mayAnswer };
}

/** An office whose thread has a standing approval, or rejection, by these people. */
async function granted(
  { mayAnswer }: { mayAnswer?: MayAnswer },
  {
    quorum,
    by = ['ada'],
    decision = 'approve',
    store = memoryStore(),
  }: {
    quorum?: number;
    by?: (string | undefined)[];
    decision?: 'approve' | 'reject';
    store?: ReturnType<typeof memoryStore>;
  } = {},
) {
  const world = travelWorld(scriptedModel(script), () => store);
  const agent = world.agent({
    name: 'travel',
    toolApproval: {
      book: {
        type: 'user-approval',
        reason: 'It costs money.',
        remember: { scope: 'everyone', match: 'any' },
        ...(quorum === undefined ? {} : { quorum }),
      },
    },
    ...(mayAnswer === undefined ? {} : { mayAnswer }),
  });
  const thread = await agent.thread('t');
  await agent.run('Book', thread, { principal: 'eve' });
  for (const principal of by) {
    const [request] = thread.activeApprovalRequests;
    const answer = request?.[decision]({ remember: true, reason: 'Fine.' });
    if (answer === undefined) throw new Error('Nothing was asked.');
    await agent.run(
      answer,
      thread,
      principal === undefined ? { channel: 'desk' } : { principal, channel: 'web' },
    );
  }
  const again = async () => agent.run('Once more', thread, { principal: 'eve' });
  return { world, agent, thread, again };
}

describe('a standing approval', () => {
  test('decides while Ada may answer, and asks a person, who reads why, once she may not', async () => {
    const office = staff('ada');
    const { world, thread, again } = await granted(office);
    expect((await again()).status).toBe('completed');
    expect(world.ran).toHaveLength(2);
    office.people.delete('ada');
    const { approvalRequests } = await again();
    expect(approvalRequests).toMatchObject([
      { reason: expect.stringMatching(/^It costs money\. .*may no longer answer/) },
    ]);
    expect(world.ran).toHaveLength(2);
    expect(thread.status).toBe('waiting');
  });

  test('is judged by what mayAnswer says to Ada’s own answer, given to the request of now', async () => {
    const office = staff('ada');
    const { again } = await granted(office);
    office.seen.length = 0;
    await again();
    expect(office.seen[0]).toMatchObject({
      principal: 'ada',
      channel: 'web',
      text: 'The agent wants to call book.',
      response: {
        type: 'approval-response',
        approved: true,
        reason: 'Fine.',
        remember: { scope: 'everyone', match: 'any' },
      },
    });
  });

  test('of a quorum needs everybody whose yes made it', async () => {
    const office = staff('ada', 'ben');
    const { world, agent, again } = await granted(office, { quorum: 2, by: ['ada', 'ben'] });
    expect(await agent.grants()).toMatchObject([
      { answers: [{ principal: 'ada', channel: 'web' }, { principal: 'ben' }] },
    ]);
    expect((await again()).status).toBe('completed');
    office.people.delete('ada');
    expect((await again()).status).toBe('waiting');
    expect(world.ran).toHaveLength(2);
  });

  test('asks a person where mayAnswer throws', async () => {
    let isDown = false;
    const { again } = await granted({
      mayAnswer: () => {
        if (isDown) throw new Error('The directory is down.');
        return true;
      },
    });
    isDown = true;
    expect((await again()).status).toBe('waiting');
  });

  test('by nobody with a name stands while mayAnswer accepts such an answer', async () => {
    const { again } = await granted(
      { mayAnswer: ({ channel }) => channel === 'desk' },
      { by: [undefined] },
    );
    expect((await again()).status).toBe('completed');
  });

  test('without mayAnswer decides as ever', async () => {
    const { again } = await granted({}, { by: [undefined] });
    expect((await again()).status).toBe('completed');
  });

  test('whose text in the store names nobody decides nothing where mayAnswer counts', async () => {
    const store = memoryStore();
    const { agent } = await granted({}, { by: [undefined], store });
    const [grant] = await agent.grants();
    if (grant === undefined) throw new Error('Nothing was granted.');
    const world = travelWorld(scriptedModel([paris('c1')]), () => store);
    const { answers: _unknown, ...old } = grant;
    const find = store.grants?.find.bind(store.grants);
    if (store.grants === undefined || find === undefined) throw new Error('It keeps none.');
    store.grants.find = async (query) =>
      (await find(query)).map((each) => ({ ...each, text: JSON.stringify(old) }));
    const now = world.agent({
      name: 'travel',
      toolApproval: {
        book: {
          type: 'user-approval',
          reason: 'It costs money.',
          remember: { scope: 'everyone', match: 'any' },
        },
      },
      mayAnswer: () => true,
    });
    expect((await now.run('Book', await now.thread('u'), { principal: 'eve' })).status).toBe(
      'waiting',
    );
  });
});

test('a standing rejection by somebody who may no longer answer rejects nothing: a person is asked', async () => {
  const office = staff('ada');
  const { thread, again } = await granted(office, { decision: 'reject' });
  expect((await again()).status).toBe('completed');
  expect(thread.calls.at(-1)?.status).toBe('denied');
  office.people.delete('ada');
  expect((await again()).status).toBe('waiting');
});

/** A manager whose buyer has a standing approval by Ada for its payments. */
async function delegated(above: MayAnswer | undefined, below: MayAnswer | undefined) {
  const office = new AgentOffice();
  const payments = [pay('p1', 'ACME'), pay('p2', 'ACME')].map((call) => ({ calls: [call] }));
  const buyer = office.payer('buyer', [...payments, { text: 'Paid.' }], {
    toolApproval: {
      pay: { type: 'user-approval', remember: { scope: 'everyone', match: 'any' } },
    },
    ...(below === undefined ? {} : { mayAnswer: below }),
  });
  const manager = office.agent(
    'manager',
    [{ calls: [ask('b1', 'buy', 'Pay.')] }, { text: 'Done.' }],
    {
      tools: { buy: office.tool(buyer) },
      ...(above === undefined ? {} : { mayAnswer: above }),
    },
  );
  const thread = await manager.thread('t');
  const [request] = (await manager.run('Pay.', thread, { principal: 'eve' })).approvalRequests;
  if (request === undefined) throw new Error('Nothing was asked.');
  return { office, buyer, manager, thread, yes: request.approve({ remember: true }) };
}

describe('a standing approval of a sub-agent', () => {
  test.each(['above', 'below'])('asks the agent %s whether Ada may still answer', async (where) => {
    const here = staff('ada');
    const mayAnswer: MayAnswer = (asked) => {
      const isRemembered = here.people.has('gone') && asked.response.type === 'approval-response';
      return !isRemembered && here.mayAnswer(asked);
    };
    const rights = where === 'above' ? [mayAnswer, undefined] : [undefined, mayAnswer];
    const { office, manager, thread, yes } = await delegated(rights[0], rights[1]);
    await manager.respond(yes, thread, { principal: 'ada' });
    here.people.add('gone');
    expect((await manager.run([], thread)).status).toBe('waiting');
    expect(office.payments).toHaveLength(1);
    expect(thread.activeApprovalRequests).toMatchObject([{ toolCall: { toolCallId: 'p2' } }]);
  });

  test.each(['above', 'below'])('decides while the agent %s lets Ada answer', async (where) => {
    const { mayAnswer } = staff('ada');
    const rights = where === 'above' ? [mayAnswer, undefined] : [undefined, mayAnswer];
    const { office, manager, thread, yes } = await delegated(rights[0], rights[1]);
    expect((await manager.run(yes, thread, { principal: 'ada' })).status).toBe('completed');
    expect(office.payments).toHaveLength(2);
  });

  test('decides nothing where the sub-agent’s thread is run without the agent above', async () => {
    const { office, buyer, manager, thread, yes } = await delegated(undefined, undefined);
    await manager.respond(yes, thread, { principal: 'ada' });
    const child = await buyer.thread(thread.calls[0]?.agent?.threadId ?? '');
    expect((await buyer.run([], child)).status).toBe('waiting');
    expect(office.payments).toHaveLength(1);
  });
});
