import {
  type AgentOptions,
  approve,
  createAgent,
  type ApprovalRequest,
  HoldpointError,
  memoryStore,
  type ThreadStore,
  type UserApproval,
} from 'holdpoint';
import { describe, expect, test } from 'vitest';
import { heldWorld } from '../middleware/held-world.ts';
import { everyStore } from '../support/every-store.ts';
import { Pause } from '../support/pause.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { rechainedJson } from '../support/chained.ts';
import { book, type Ran, travelTools } from '../support/travel-world.ts';
import { peoplesChannels } from './people-channels.ts';
import { pickCases } from '../support/sampling.ts';

const two: UserApproval = { type: 'user-approval', quorum: 2 };
const three: UserApproval = { type: 'user-approval', quorum: 3 };
const others: UserApproval = { type: 'user-approval', notRequester: true };
const forPerson: UserApproval = {
  type: 'user-approval',
  remember: { scope: 'principal', match: 'any' },
};

/* The principals of two tenants, who share a subject. */
const [atA, atB] = [
  { iss: 'a', sub: 1 },
  { iss: 'b', sub: 1 },
];
const byIssuer = (principal: unknown): string => JSON.stringify(principal);

/** A model that books what a message wants, and is done with the result. */
function bookingModel() {
  const [books, ends] = [{ calls: [book('c1', 'Paris')] }, { text: 'Done.' }].map(
    (step) => scriptedModel([step], { repeat: true }).model,
  );
  if (books === undefined || ends === undefined) throw new Error('There is no model.');
  const doGenerate: typeof books.doGenerate = async (call) =>
    (call.prompt.at(-1)?.role === 'user' ? books : ends).doGenerate(call);
  return { ...books, doGenerate };
}

/** Keeps the threads of all deployments in memory. */
function openMemory(): () => ThreadStore {
  const store = memoryStore();
  return () => store;
}

/** Deployments of one agent over one store, which each opens. */
function deployments(
  status: UserApproval | (() => UserApproval),
  open: () => ThreadStore = openMemory(),
) {
  const ran: Ran[] = [];
  const deploy = (options: Partial<AgentOptions> = {}) =>
    createAgent({
      name: 'travel',
      model: bookingModel(),
      tools: travelTools(ran),
      toolApproval: { book: status },
      store: open(),
      ...options,
    });
  return { ran, deploy };
}

type Deployed = ReturnType<ReturnType<typeof deployments>['deploy']>;

/** The request of a call that somebody has an agent make; `undefined` if it ran unasked. */
async function ask(agent: Deployed, principal: unknown, threadId = 't') {
  const { approvalRequests } = await agent.run('Book', await agent.thread(threadId), { principal });
  return approvalRequests[0];
}

/** Somebody approves a request; the error if that is refused. */
async function say(
  agent: Deployed,
  principal: unknown,
  request: ApprovalRequest | undefined,
  remember?: true,
): Promise<unknown> {
  if (request === undefined) throw new Error('Nothing was asked.');
  const thread = await agent.thread(request.threadId);
  const answer = approve(request, remember === undefined ? {} : { remember });
  return agent.run(answer, thread, { principal }).then(
    () => undefined,
    (error: unknown) => error,
  );
}

function codeOf(error: unknown): unknown {
  return HoldpointError.isInstance(error) ? error.code : error;
}

async function codeOfAsync(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => undefined,
    (error: unknown) => codeOf(error),
  );
}

const alike = ['Ada@X', 'ada@x ', 'a\u200Bda@x', '\uFF41da@x'];

describe.each(pickCases(peoplesChannels, 2))('through $name', ({ open }) => {
  test.each(pickCases(alike, 3))('%j and ada@x do not fill a quorum of two', async (other) => {
    const at = heldWorld(scriptedModel([{ calls: [book('c1', 'Paris')] }, { text: 'Done.' }]), {
      toolApproval: { book: two },
    });
    const { say: write, approve: yes } = open(at);
    await write('eve', 'Book');
    const request = async () => {
      const [first] = (await at.agent.thread('t')).activeRequests;
      if (first?.type !== 'approval-request') throw new Error('Nothing was asked.');
      return first;
    };
    expect(await yes('ada@x', await request())).toBe(undefined);
    expect(await yes(other, await request())).toBe('not-allowed');
    expect((await request()).votes).toMatchObject([{ person: 'ada@x' }]);
    expect(at.ran).toEqual([]);
    expect(await yes('ben@x', await request())).toBe(undefined);
    expect(at.ran.length).toBe(1);
  });
});

describe('a refusal by looseness', () => {
  test('names both ids, shown inertly, and principalId as the cure', async () => {
    const { deploy } = deployments(two);
    const agent = deploy();
    const request = await ask(agent, 'eve');
    await say(agent, 'ada@x', request);
    const error = await say(agent, 'a\u200Bda@x', request);
    expect(codeOf(error)).toBe('not-allowed');
    expect(String(error)).toContain('"a\\u{200b}da@x" counts as the same person as "ada@x"');
    expect(String(error)).toContain('principalId');
  });

  test('of a requester does too, and also of principals that share an id field', async () => {
    const { deploy } = deployments(others);
    const agent = deploy();
    const request = await ask(agent, atA);
    const error = await say(agent, atB, request);
    expect(codeOf(error)).toBe('not-allowed');
    expect(String(error)).toContain('"1" counts as the same person as "1"');
    const certain = deploy({ principalId: byIssuer });
    expect(String(await say(certain, atA, request))).not.toContain('counts as the same person');
    expect(await say(certain, atB, request)).toBe(undefined);
  });

  test('is not needed for the same approval again, nor for a rejection', async () => {
    const { deploy } = deployments(two);
    const agent = deploy();
    const request = await ask(agent, 'eve');
    await say(agent, 'ada@x', request);
    expect(await say(agent, 'ada@x', request)).toBe(undefined);
    const thread = await agent.thread('t');
    await agent.run(
      thread.activeRequests.map(({ requestId }) => ({
        type: 'approval-response' as const,
        requestId,
        approved: false,
      })),
      thread,
      { principal: 'Ada@X' },
    );
    expect(thread.activeRequests).toEqual([]);
  });
});

describe('nobody counts twice for somebody else, in any spelling of the name', () => {
  test('a person who was asked to answer instead of Ada does not count beside her', async () => {
    const { deploy, ran } = deployments(three);
    const agent = deploy({
      mayAnswer: ({ principal, request }) =>
        principal !== 'cy' ||
        (request.type === 'approval-request' && request.approvers?.includes('cy') === true),
    });
    const request = await ask(agent, 'eve');
    const thread = await agent.thread('t');
    await agent.reassign(thread, request?.requestId ?? '', 'cy', { principal: 'ADA' });
    expect(await say(agent, 'cy', request)).toBe(undefined);
    expect(codeOf(await say(agent, 'ada', request))).toBe('not-allowed');
    expect(await say(agent, 'ben', request)).toBe(undefined);
    expect(ran).toEqual([]);
  });
});

describe('a log in which one person decides alone is refused', () => {
  test.each([
    ['ben', {}],
    ['cy', { onBehalfOf: 'ben' }],
  ])('with a vote of %s', async (person, behalf) => {
    const { deploy } = deployments(two);
    const agent = deploy();
    const request = await ask(agent, 'eve');
    await say(agent, 'cy', request);
    await say(agent, 'ben', request);
    const text = JSON.stringify(await agent.thread('t'));
    const forge = (vote: object, answer: object): string =>
      rechainedJson(
        text
          .replace('"person":"cy"', JSON.stringify(vote).slice(1, -1))
          .replace(/"person":"ben"(?!.*"person")/s, JSON.stringify(answer).slice(1, -1)),
      );
    const restored = (forged: string) =>
      codeOfAsync(deploy({ store: memoryStore() }).restore(forged));
    expect(await restored(forge({ person: 'cy' }, { person: 'ben' }))).toBe(undefined);
    expect(await restored(forge({ person, ...behalf }, { person }))).toBe('log-tampered');
  });
});

describe.each(everyStore())('$name: after a deployment changes principalId', ({ start }) => {
  const mail = { principalId: (person: unknown) => String(Reflect.get(Object(person), 'email')) };
  const id = { principalId: (person: unknown) => String(Reflect.get(Object(person), 'id')) };
  const ada = { id: 'u1', email: 'ada@x' };
  const ben = { id: 'u2', email: 'ben@x' };
  const cy = { id: 'u3', email: 'cy@x' };

  test('the same person does not vote twice', async () => {
    using kept = await start();
    const { deploy, ran } = deployments(two, kept.open);
    const request = await ask(deploy(mail), cy);
    await say(deploy(mail), ada, request);
    expect(await say(deploy(id), ada, request)).toBe(undefined);
    expect(ran).toEqual([]);
    expect(await say(deploy(id), ben, request)).toBe(undefined);
    expect(ran.length).toBe(1);
  });

  test('a changed approval replaces the one under the old name', async () => {
    using kept = await start();
    const { deploy, ran } = deployments({ ...three, remember: true }, kept.open);
    const request = await ask(deploy(mail), cy);
    await say(deploy(mail), ada, request);
    expect(await say(deploy(id), ada, request, true)).toBe(undefined);
    const thread = await deploy(id).thread('t');
    expect(thread.activeRequests).toMatchObject([{ votes: [{ person: 'u1' }] }]);
    expect(await say(deploy(id), ben, request)).toBe(undefined);
    expect(ran).toEqual([]);
    await thread.verify();
  });

  test('two votes of the same person count once', async () => {
    using kept = await start();
    const { deploy, ran } = deployments(three, kept.open);
    const request = await ask(deploy(mail), cy);
    await say(deploy(mail), ada, request);
    await say(deploy(mail), { id: 'u1', email: 'ada@home' }, request);
    expect(await say(deploy(id), ben, request)).toBe(undefined);
    expect(ran).toEqual([]);
    const thread = await deploy(id).thread('t');
    expect(thread.activeRequests).toMatchObject([
      { votes: [{ person: 'ada@x' }, { person: 'u2' }] },
    ]);
    expect(await say(deploy(id), cy, request)).toBe(undefined);
    expect(ran.length).toBe(1);
  });

  test('the person who gave a vote withdraws it', async () => {
    using kept = await start();
    const { deploy } = deployments(two, kept.open);
    const request = await ask(deploy(mail), cy);
    await say(deploy(mail), ada, request);
    const agent = deploy(id);
    const thread = await agent.thread('t');
    await agent.withdraw(thread, request?.requestId ?? '', { principal: ada });
    expect(thread.activeRequests).toMatchObject([{ votes: [] }]);
  });

  test("a request is still the requester's", async () => {
    using kept = await start();
    const { deploy } = deployments(others, kept.open);
    const request = await ask(deploy(mail), ada);
    expect(codeOf(await say(deploy(id), { id: 'u1', email: 'ada@home' }, request))).toBe(
      'not-allowed',
    );
    expect(await say(deploy(id), ben, request)).toBe(undefined);
  });

  test('a standing approval follows its person', async () => {
    using kept = await start();
    const { deploy, ran } = deployments(forPerson, kept.open);
    await say(deploy(mail), ben, await ask(deploy(mail), ada), true);
    expect(ran.length).toBe(1);
    expect(await ask(deploy(id), ada, 'second')).toBe(undefined);
    expect(ran.length).toBe(2);
    expect(await ask(deploy(id), ben, 'third')).toBeDefined();
    /* Somebody else who is named today as she was then. */
    expect(await ask(deploy(id), { id: 'ada@x', email: 'eve@x' }, 'fourth')).toBeDefined();
  });

  test('of two processes, an old one and a new one, in which a person votes at one moment, one has the vote', async () => {
    using kept = await start();
    const { deploy, ran } = deployments(two, kept.open);
    const request = await ask(deploy(mail), cy);
    const said = [say(deploy(mail), ada, request), say(deploy(id), ada, request)];
    const codes = (await Promise.all(said)).map(codeOf);
    expect(codes).toContain(undefined);
    const thread = await deploy(id).thread('t');
    expect(thread.activeRequests).toMatchObject([{ votes: [{ principal: ada }] }]);
    expect(ran).toEqual([]);
    expect(await say(deploy(id), ben, request)).toBe(undefined);
    expect(ran.length).toBe(1);
  });

  test('nor does the person vote twice while the answer of the old process is on its way', async () => {
    using kept = await start();
    const { deploy, ran } = deployments(two, kept.open);
    const request = await ask(deploy(mail), cy);
    const pause = new Pause();
    const slow = async (): Promise<boolean> => {
      await pause.wait();
      return true;
    };
    const late = await pause.during(
      say(deploy({ ...mail, mayAnswer: slow }), ada, request),
      async () => expect(await say(deploy(id), ada, request)).toBe(undefined),
    );
    expect(late).toBe(undefined);
    const { activeRequests } = await deploy(id).thread('t');
    expect(activeRequests).toMatchObject([{ votes: [{ principal: ada }] }]);
    expect(ran).toEqual([]);
  });

  test('a standing approval that an old process makes after a new one has started serves its person from the next start, and nobody else', async () => {
    using kept = await start();
    const { deploy, ran } = deployments(forPerson, kept.open);
    const started = { ...id, store: kept.open() };
    await say(deploy(mail), cy, await ask(deploy(mail), ben), true);
    expect(await ask(deploy(started), ben, 'second')).toBe(undefined);
    await say(deploy(mail), cy, await ask(deploy(mail), ada, 'third'), true);
    expect(ran.length).toBe(3);
    const next = { principalId: (person: unknown) => id.principalId(person) };
    const other = { id: 'ada@x', email: 'eve@x' };
    for (const [index, process] of [started, next].entries()) {
      expect(await ask(deploy(process), other, `fourth ${index}`)).toBeDefined();
    }
    expect(ran.length).toBe(3);
    expect(await ask(deploy(next), ada, 'fifth')).toBe(undefined);
    expect(ran.length).toBe(4);
  });

  test('a standing approval is not for a call of somebody who answered it under another name', async () => {
    const rule = {
      ...forPerson,
      ...others,
      remember: { scope: 'everyone', match: 'any' },
    } as const;
    using kept = await start();
    const { deploy } = deployments(rule, kept.open);
    await say(deploy(mail), ben, await ask(deploy(mail), ada), true);
    expect(await ask(deploy(id), cy, 'second')).toBe(undefined);
    expect(await ask(deploy(id), ben, 'third')).toBeDefined();
  });
});

describe('a standing approval for one person', () => {
  test.each(pickCases(alike, 3))('is not for %j, who looks like ada@x', async (other) => {
    const { deploy } = deployments(forPerson);
    await say(deploy(), 'ben', await ask(deploy(), 'ada@x'), true);
    expect(await ask(deploy(), 'ada@x', 'second')).toBe(undefined);
    expect(await ask(deploy(), other, 'third')).toBeDefined();
  });

  test('is refused for an object without principalId, and the error names the cure', async () => {
    const { deploy } = deployments(forPerson);
    const agent = deploy();
    const error = await say(agent, 'ben', await ask(agent, atA), true);
    expect(codeOf(error)).toBe('invalid-answer');
    expect(String(error)).toContain('give the agent a principalId');
    expect((await agent.thread('t')).activeRequests.length).toBe(1);
  });

  test("does not serve another tenant's user with the same subject", async () => {
    const { deploy } = deployments(forPerson);
    const agent = deploy({ principalId: byIssuer });
    await say(agent, 'ben', await ask(agent, atA), true);
    expect(await ask(agent, atA, 'second')).toBe(undefined);
    expect(await ask(agent, atB, 'third')).toBeDefined();
    /* Nor, without principalId, anybody. */
    expect(await ask(deploy(), atA, 'fourth')).toBeDefined();
  });

  test('whose text in the store has no principal is for nobody', async () => {
    const store = memoryStore();
    const { deploy } = deployments(forPerson, () => store);
    await say(deploy(), 'ben', await ask(deploy(), 'ada'), true);
    const [grant] = await deploy().grants();
    const { grants } = store;
    const unnamed: ThreadStore = {
      ...store,
      ...(grants && {
        grants: {
          list: async (query) => grants.list(query),
          revoke: async (grantId) => grants.revoke(grantId),
          find: async (query) =>
            (await grants.find(query)).map((stored) => ({
              ...stored,
              text: JSON.stringify({ ...grant, requestedBy: undefined }),
            })),
        },
      }),
    };
    expect(await ask(deploy({ store: unnamed }), 'ada', 'second')).toBeDefined();
    expect(await ask(deploy({ store: unnamed }), atA, 'third')).toBeDefined();
  });

  test('is refused if the call was made for two people', async () => {
    const store = memoryStore();
    const { deploy } = deployments(forPerson, () => store);
    const failing = scriptedModel([{ fail: 'overloaded' }]).model;
    const first = deploy({ model: failing, maxRetries: 0 });
    await expect(
      first.run('Book', await first.thread('t'), { principal: 'ada' }),
    ).rejects.toThrow();
    const error = await say(deploy(), 'cy', await ask(deploy(), 'ben'), true);
    expect(codeOf(error)).toBe('invalid-answer');
    expect(String(error)).toContain('several people');
  });
});

/** An agent without a name, and what it did. */
function nameless(toolApproval: AgentOptions['toolApproval'], store = memoryStore()) {
  const ran: Ran[] = [];
  const make = () =>
    createAgent({
      model: scriptedModel([{ calls: [book('c1', 'Paris')] }, { text: 'Done.' }]).model,
      tools: travelTools(ran),
      ...(toolApproval && { toolApproval }),
      store,
    });
  return { ran, make };
}

/** Asks for more than a thread where the price is high, and lets people change it. */
const byPrice = ({ price = 0 }: { price?: number | undefined }): UserApproval =>
  price > 5
    ? { type: 'user-approval', risk: 'high', remember: { scope: 'everyone' } }
    : { type: 'user-approval', editable: true };

describe('an agent without a name', () => {
  test.each(['principal', 'everyone'] as const)(
    'can not have a rule whose answers are remembered beyond a thread: %s',
    async (scope) => {
      const rule = { type: 'user-approval', remember: { scope } } as const;
      expect(nameless({ book: rule }).make).toThrow(
        'toolApproval.book: The approval rule lets answers be remembered with the scope',
      );
      const { make, ran } = nameless({ book: () => rule });
      const agent = make();
      const thread = await agent.thread('t');
      const { approvalRequests } = await agent.run('Book', thread);
      expect(approvalRequests).toEqual([]);
      expect(thread.calls).toMatchObject([
        { outcome: { status: 'failed', error: expect.stringContaining('give the agent a name') } },
      ]);
      expect(ran).toEqual([]);
    },
  );

  test('can not remember more than that for an edited call either', async () => {
    const agent = nameless({ book: byPrice }).make();
    const thread = await agent.thread('t');
    const { approvalRequests } = await agent.run('Book', thread);
    const input = { city: 'Paris', price: 9 };
    await agent.run(
      approvalRequests.map((request) => request.approve({ input })),
      thread,
    );
    const error: unknown = await agent
      .run(
        thread.activeApprovalRequests.map((request) => request.approve({ remember: true })),
        thread,
      )
      .catch((reason: unknown) => reason);
    expect(codeOf(error)).toBe('invalid-answer');
    expect(String(error)).toContain('give this one a name');
  });

  test('remembers answers within a thread', async () => {
    const { make } = nameless({ book: { type: 'user-approval', remember: true } });
    const agent = make();
    const thread = await agent.thread('t');
    const { approvalRequests } = await agent.run('Book', thread);
    await agent.run(
      approvalRequests.map((request) => request.approve({ remember: true })),
      thread,
    );
    expect(thread.grants.length).toBe(1);
  });
});
