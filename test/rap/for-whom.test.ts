import { createAgent, memoryStore } from 'holdpoint';
import {
  checkRemoteCalls,
  createCallbackHandler,
  createToolServer,
  remoteTool,
} from 'holdpoint/rap';
import { expect, test } from 'vitest';
import { z } from 'zod';
import type { ScriptedStep } from '../support/script.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { pick } from './remote-world.ts';
import { waitFor } from '../support/waiting.ts';

const inputSchema = z.object({});
const oldSecret = 'a secret of the tests, 32 bytes or more';
const newSecret = 'the next secret of them, of 32 bytes or more';
const signing = { secret: `whsec_${btoa('a secret that both of them have, 32 b')}` };
const overloaded: ScriptedStep = { fail: 'overloaded' };

interface Options {
  principalId?: (principal: unknown) => string;
  signing?: Parameters<typeof createToolServer>[0]['signing'] & typeof signing;
  /** The steps of the model before each call. */
  before?: ScriptedStep[];
}

function nameOf(principal: unknown): string {
  return String(Reflect.get(Object(principal), 'name'));
}

/** An agent in whose one thread people take turns, and a server with a tool that asks for the session. */
function office({ principalId, signing: signed, before = [] }: Options = {}) {
  const users: (string | undefined)[] = [];
  const stopped: unknown[] = [];
  const serves = new Map<string, (request: Request) => Promise<Response>>();
  const net: typeof fetch = async (input, init) => {
    const request = new Request(input, init);
    return (await serves.get(new URL(request.url).host)?.(request)) ?? Response.error();
  };
  const { handler } = createToolServer({
    baseUrl: 'https://tools.test',
    fetch: net,
    ...(signed === undefined ? {} : { signing: signed }),
    tools: {
      deleteAll: {
        inputSchema,
        async execute(_input, { askForSession, signal, userId }) {
          users.push(userId);
          signal.addEventListener('abort', () => stopped.push(signal.reason.message));
          const isAllowed = await askForSession({ prompt: 'Delete everything?', key: 'delete' });
          return isAllowed ? 'Deleted.' : 'Kept.';
        },
      },
    },
  });
  serves.set('tools.test', handler);
  const toolsOf = (secret: string | string[]) => ({
    deleteAll: remoteTool({
      description: 'Deletes everything.',
      inputSchema,
      endpoint: 'https://tools.test/deleteAll',
      callbackUrl: 'https://agent.test/callback',
      secret,
      fetch: net,
      ...(signed === undefined ? {} : { signing: signed }),
    }),
  });
  const script = Array.from({ length: 4 }, (_, nth): ScriptedStep[] => [
    ...before,
    { calls: [{ id: `call-${nth}`, name: 'deleteAll', input: {} }] },
    { text: 'Done.' },
  ]);
  const { model } = scriptedModel(script.flat());
  const store = memoryStore();
  const agentOf = (secret: string | string[]) => {
    const tools = toolsOf(secret);
    const agent = createAgent({
      ...(principalId === undefined ? {} : { principalId }),
      model,
      tools,
      store,
      maxRetries: 0,
    });
    serves.set('agent.test', createCallbackHandler({ agent, tools }));
    return { agent, tools };
  };
  const { agent } = agentOf(oldSecret);
  const settled = async () =>
    waitFor(async () => {
      const thread = await agent.thread('t');
      const [call] = thread.calls.slice(-1);
      if (thread.activeRequests.length === 0 && call?.outcome === undefined)
        throw new Error('Not yet.');
      return thread;
    });
  /** People write one after the other, and the model calls the tool. Resolves to whether somebody was asked, and picked `choice`. */
  const turn = async (people: readonly unknown[], choice = 2): Promise<boolean> => {
    for (const principal of people) {
      const more = principal === undefined ? {} : { principal };
      await agent.run('Clean up.', await agent.thread('t'), more).catch(() => {});
    }
    const asked = await settled();
    const isAsked = asked.activeRequests.length > 0;
    if (isAsked) await agent.run(pick(asked, choice), asked);
    await waitFor(async () => {
      const thread = await agent.thread('t');
      expect(thread.calls.at(-1)?.outcome).toBeDefined();
      await agent.run([], thread);
    });
    return isAsked;
  };
  return { agent, agentOf, settled, stopped, turn, users };
}

test('Ada’s “yes for the session” is for Ada’s calls: Ben is asked, in the same thread', async () => {
  const { turn, users } = office();
  expect(await turn(['ada'], 0)).toBe(true);
  expect(await turn(['ben'])).toBe(true);
  expect(await turn(['ada'])).toBe(false);
  expect(users).toEqual(['ada', 'ben', 'ada']);
});

test('people who ask together are no user, and their grant is for them together alone', async () => {
  const { turn, users } = office({ before: [overloaded] });
  expect(await turn(['ada', 'ben'], 0)).toBe(true);
  expect(await turn(['ada', 'eve'])).toBe(true);
  expect(await turn(['ben', 'ada'])).toBe(false);
  expect(users).toEqual([undefined, undefined, undefined]);
});

test('somebody unknown beside Ada may be anybody: nothing is remembered', async () => {
  const { turn, users } = office({ before: [overloaded] });
  expect(await turn(['ada', undefined], 0)).toBe(true);
  expect(await turn(['ada', undefined])).toBe(true);
  expect(await turn(['ada', 'ada'])).toBe(true);
  expect(users).toEqual([undefined, undefined, 'ada']);
});

test('people who are objects share no grant; with principalId they are users', async () => {
  const [ada, ben] = [
    { id: 'u', name: 'Ada' },
    { id: 'u', name: 'Ben' },
  ];
  const unnamed = office();
  expect(await unnamed.turn([ada], 0)).toBe(true);
  expect(await unnamed.turn([ben])).toBe(true);
  expect(await unnamed.turn([ada])).toBe(false);
  expect(unnamed.users).toEqual([undefined, undefined, undefined]);
  const named = office({ principalId: nameOf });
  expect(await named.turn([ada], 0)).toBe(true);
  expect(await named.turn([ben])).toBe(true);
  expect(named.users).toEqual(['Ada', 'Ben']);
});

test('in an app that names nobody, a session is the thread, as before', async () => {
  const { turn, users } = office();
  expect(await turn([undefined], 0)).toBe(true);
  expect(await turn([undefined])).toBe(false);
  expect(users).toEqual([undefined, undefined]);
});

test.each([
  ['unsigned', {}],
  ['signed', { signing }],
])(
  'an agent stops and finds its own calls on a tool server, %s, also after a change of its secret',
  async (_mode, options) => {
    const { agent, agentOf, settled, stopped } = office(options);
    await agent.run('Clean up.', await agent.thread('t'), { principal: 'ada' });
    await settled();
    const next = agentOf([newSecret, oldSecret]);
    const thread = await next.agent.thread('t');
    expect(await checkRemoteCalls({ ...next, thread })).toEqual([]);
    await next.agent.cancel(thread);
    await waitFor(() => expect(stopped).toEqual(['The call was cancelled.']));
  },
);
