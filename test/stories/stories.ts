import type { AgentResponse, ToolCallRecord } from 'holdpoint';
import { expect } from 'vitest';
import { errorCode } from '../support/error-code.ts';
import type { ScriptedStep } from '../support/script.ts';
import { book, look, type TravelWorld } from '../support/travel-world.ts';

/** Scenarios of an agent, written once and run with every model and every store. */
export interface Story {
  name: string;
  script: ScriptedStep[];
  /** Whether the script has argument text that is not valid JSON, which some APIs can't transmit. */
  rawInput?: boolean;
  /** Whether two calls of one step have one id, which some packages mend in a stream. */
  repeatedIds?: boolean;
  play(world: TravelWorld): Promise<void>;
}

const done: ScriptedStep = { text: 'All done.' };
const cities = (world: TravelWorld, name: string): unknown[] =>
  world.ran
    .filter((ran) => ran.name === name)
    .map(({ input }) => Reflect.get(Object(input), 'city'));
const statuses = (response: AgentResponse): ToolCallRecord['status'][] =>
  response.thread.calls.map(({ status }) => status);
const requestFor = (response: AgentResponse, city: string) => {
  const request = response.approvalRequests.find(
    ({ toolCall }) => Reflect.get(Object(toolCall?.input), 'city') === city,
  );
  if (request === undefined) throw new Error(`Nothing is asked about ${city}.`);
  return request;
};

/** The stories of the loop. */
export const stories: Story[] = [
  {
    name: 'text without calls completes (S3-26, S3-27)',
    script: [{ text: 'Hello.' }],
    async play({ agent }) {
      const holdpoint = agent();
      const response = await holdpoint.run('Hi', await holdpoint.thread('t'));
      expect(response).toMatchObject({ status: 'completed', text: 'Hello.', finishReason: 'stop' });
      expect(response.thread.status).toBe('idle');
    },
  },
  {
    name: 'an approved call runs once, as shown, and the model gets its result (S3-28 to S3-38)',
    script: [{ text: 'One moment.', calls: [book('c1', 'Paris')] }, done],
    async play(world) {
      const agent = world.agent();
      const thread = await agent.thread('t');
      let response = await agent.run('Book Paris', thread);
      expect(response).toMatchObject({ status: 'waiting', text: 'One moment.' });
      expect(world.ran).toEqual([]);
      expect(thread.activeApprovalRequests).toHaveLength(1);
      while (response.approvalRequests.length > 0) {
        const answers = response.approvalRequests.map((request) => request.approve());
        response = await agent.run(answers, thread);
      }
      expect(response).toMatchObject({ status: 'completed', text: 'All done.' });
      expect(cities(world, 'book')).toEqual(['Paris']);
      expect(thread.activeApprovalRequests).toEqual([]);
      expect(thread.calls).toMatchObject([
        { toolName: 'book', status: 'succeeded', outcome: { output: { booked: 'Paris' } } },
      ]);
    },
  },
  {
    name: 'a rejected call does not run, and the model is told why',
    script: [{ calls: [book('c1', 'Paris')] }, done],
    async play(world) {
      const agent = world.agent();
      const waiting = await agent.run('Book Paris', await agent.thread('t'));
      const answers = waiting.approvalRequests.map((request) => request.reject('too dear'));
      const response = await agent.run(answers, waiting.thread);
      expect(response).toMatchObject({ status: 'completed', text: 'All done.' });
      expect(world.ran).toEqual([]);
      expect(response.thread.messages.at(-2)).toMatchObject({
        role: 'tool',
        content: [{ toolCallId: 'c1', output: { type: 'execution-denied', reason: 'too dear' } }],
      });
    },
  },
  {
    name: 'answers to several requests, given together, some yes and some no (S3-21, S3-22)',
    script: [{ calls: [book('c1', 'Paris'), book('c2', 'Rome'), book('c3', 'Oslo')] }, done],
    async play(world) {
      const agent = world.agent();
      const waiting = await agent.run('Book', await agent.thread('t'));
      const response = await agent.run(
        [
          requestFor(waiting, 'Oslo').approve(),
          requestFor(waiting, 'Paris').approve(),
          requestFor(waiting, 'Rome').reject(),
        ],
        waiting.thread,
      );
      expect(response.status).toBe('completed');
      expect(
        cities(world, 'book')
          .map(String)
          .toSorted((one, other) => one.localeCompare(other)),
      ).toEqual(['Oslo', 'Paris']);
      expect(statuses(response)).toEqual(['succeeded', 'denied', 'succeeded']);
    },
  },
  {
    name: 'answers one by one, in any order, each by a new agent: each call runs when approved, the model waits',
    script: [{ calls: [book('c1', 'Paris'), book('c2', 'Rome'), book('c3', 'Oslo')] }, done],
    async play(world) {
      const first = world.agent();
      let response = await first.run('Book', await first.thread('t'));
      for (const city of ['Oslo', 'Paris', 'Rome']) {
        expect(world.requests()).toBe(1);
        const agent = world.agent();
        const answer = requestFor(response, city);
        response = await agent.run(
          city === 'Paris' ? answer.reject('full') : answer.approve(),
          await agent.thread('t'),
        );
      }
      expect(response).toMatchObject({ status: 'completed', text: 'All done.' });
      expect(cities(world, 'book')).toEqual(['Oslo', 'Rome']);
      expect(response.thread.messages.at(-2)).toMatchObject({
        content: [
          { toolCallId: 'c1', output: { type: 'execution-denied' } },
          { toolCallId: 'c2', output: { value: { booked: 'Rome' } } },
          { toolCallId: 'c3', output: { value: { booked: 'Oslo' } } },
        ],
      });
    },
  },
  {
    name: 'a mixed step: safe siblings run before the pause, and not again',
    script: [{ calls: [look('c1', 'Paris'), book('c2', 'Paris'), look('c3', 'Rome')] }, done],
    async play(world) {
      const agent = world.agent();
      const waiting = await agent.run('Book', await agent.thread('t'));
      expect(waiting.status).toBe('waiting');
      expect(cities(world, 'look')).toEqual(['Paris', 'Rome']);
      const next = world.agent();
      const response = await next.run(
        requestFor(waiting, 'Paris').approve(),
        await next.thread('t'),
      );
      expect(response.status).toBe('completed');
      expect(cities(world, 'look')).toEqual(['Paris', 'Rome']);
      expect(cities(world, 'book')).toEqual(['Paris']);
    },
  },
  {
    name: 'the thread goes to JSON and comes back in another process at every pause (S3-02)',
    script: [{ calls: [book('c1', 'Paris')] }, { calls: [book('c2', 'Rome')] }, done],
    async play(world) {
      const first = world.agent({ store: undefined });
      const { thread } = await first.run('Book both', await first.thread('t'));
      let text = JSON.stringify(thread);
      for (const city of ['Paris', 'Rome']) {
        const agent = world.agent({ store: undefined });
        const restored = await agent.restore(text);
        expect(restored.activeApprovalRequests).toMatchObject([{ toolCall: { input: { city } } }]);
        const [request] = restored.activeApprovalRequests;
        const response = await agent.run(request?.approve() ?? [], restored);
        text = JSON.stringify(response.thread);
      }
      expect(cities(world, 'book')).toEqual(['Paris', 'Rome']);
      const last = await world.agent({ store: undefined }).restore(JSON.parse(text));
      expect(last.status).toBe('idle');
      expect(last.messages.at(-1)).toMatchObject({ role: 'assistant' });
    },
  },
  {
    name: 'the same answer again gives the recorded outcome; another one is refused and changes nothing',
    script: [{ calls: [book('c1', 'Paris')] }, done],
    async play(world) {
      const agent = world.agent();
      const waiting = await agent.run('Book', await agent.thread('t'));
      const request = requestFor(waiting, 'Paris');
      await agent.run(request.approve(), waiting.thread);
      const other = world.agent();
      const thread = await other.thread('t');
      const { revision } = thread;
      const again = await other.run([request.approve(), request.approve()], thread);
      expect(again).toMatchObject({ status: 'completed', text: 'All done.', messages: [] });
      expect(await errorCode(other.run(request.reject(), thread))).toBe('already-answered');
      expect(thread.revision).toBe(revision);
      expect(cities(world, 'book')).toEqual(['Paris']);
      expect(world.requests()).toBe(2);
    },
  },
  {
    name: 'the same answer at once, by two agents: the tool runs once',
    script: [{ calls: [book('c1', 'Paris')] }, done],
    async play(world) {
      const first = world.agent();
      const waiting = await first.run('Book', await first.thread('t'));
      const answer = requestFor(waiting, 'Paris').approve();
      const responses = await Promise.all(
        [world.agent(), world.agent(), world.agent()].map(async (agent) =>
          agent.run(answer, await agent.thread('t')),
        ),
      );
      expect(cities(world, 'book')).toEqual(['Paris']);
      expect(world.requests()).toBe(2);
      const others = responses.filter(({ status }) => status !== 'completed');
      expect(responses.length - others.length).toBeGreaterThanOrEqual(1);
      for (const other of others) expect(other.status).toBe('running');
    },
  },
  {
    name: 'the provider fails after an approved call ran: the next run goes on from its result',
    script: [{ calls: [book('c1', 'Paris')] }, { fail: 'overloaded' }, done],
    async play(world) {
      const agent = world.agent();
      const waiting = await agent.run('Book', await agent.thread('t'));
      const answer = requestFor(waiting, 'Paris').approve();
      await expect(agent.run(answer, waiting.thread)).rejects.toThrow('overloaded');
      const next = world.agent();
      const thread = await next.thread('t');
      expect(thread.calls).toMatchObject([{ status: 'succeeded' }]);
      expect(await next.run(answer, thread)).toMatchObject({ status: 'completed' });
      expect(cities(world, 'book')).toEqual(['Paris']);
    },
  },
  {
    name: 'the provider fails at once: the message is kept, and run([]) goes on',
    script: [{ fail: 'overloaded' }, done],
    async play(world) {
      const agent = world.agent();
      const thread = await agent.thread('t');
      await expect(agent.run('Hi', thread)).rejects.toThrow('overloaded');
      expect(thread.status).toBe('due');
      expect(await agent.run([], thread)).toMatchObject({ status: 'completed', text: 'All done.' });
    },
  },
  {
    name: 'a step with two calls of one id asks nothing and runs nothing',
    repeatedIds: true,
    script: [
      { calls: [book('c1', 'Paris'), look('c1', 'Rome'), look('c2', 'Oslo')] },
      { text: 'I will try again.' },
    ],
    async play(world) {
      const agent = world.agent();
      const response = await agent.run('Book', await agent.thread('t'));
      expect(response).toMatchObject({ status: 'completed', approvalRequests: [] });
      expect(world.ran).toEqual([]);
      expect(statuses(response)).toEqual(['failed', 'failed', 'failed']);
      expect(new Set(response.thread.calls.map(({ toolCallId }) => toolCallId)).size).toBe(3);
    },
  },
  {
    name: 'an id that a later step uses again is another call, and asked about anew',
    script: [{ calls: [book('c1', 'Paris')] }, { calls: [book('c1', 'Rome')] }, done],
    async play(world) {
      const agent = world.agent();
      const first = await agent.run('Book', await agent.thread('t'));
      const paris = requestFor(first, 'Paris').approve();
      const second = await agent.run(paris, first.thread);
      expect(cities(world, 'book')).toEqual(['Paris']);
      expect(await agent.run(paris, first.thread)).toMatchObject({ status: 'waiting' });
      expect(cities(world, 'book')).toEqual(['Paris']);
      const third = await agent.run(requestFor(second, 'Rome').reject(), first.thread);
      expect(third.status).toBe('completed');
      expect(cities(world, 'book')).toEqual(['Paris']);
    },
  },
  {
    name: 'calls of no tool, with inputs of another shape, and of a cut-off step get an error and are not asked about',
    script: [
      { calls: [{ id: 'c1', name: 'bok', input: { city: 'Paris' } }] },
      { calls: [{ id: 'c2', name: 'book', input: { town: 'Paris' } }, look('c3', 'Rome')] },
      { calls: [book('c4', 'Paris')], finish: 'length' },
      done,
    ],
    async play(world) {
      const agent = world.agent();
      const response = await agent.run('Book', await agent.thread('t'));
      expect(response).toMatchObject({ status: 'completed', text: 'All done.' });
      expect(statuses(response)).toEqual(['failed', 'failed', 'succeeded', 'failed']);
      expect(world.ran.map(({ name }) => name)).toEqual(['look']);
      expect(response.thread.events.map(({ type }) => type)).not.toContain('request-opened');
    },
  },
  {
    name: 'what providers would not take back does not stay in the history: blank text, made-up names, lone reasoning',
    script: [
      { text: ' ', calls: [look('c1', 'Paris')] },
      { calls: [{ id: 'c2', name: 'no such.tool!', input: {} }] },
      { reasoning: 'Let me think', finish: 'length' },
      done,
    ],
    async play(world) {
      const agent = world.agent();
      const { thread } = await agent.run('Look', await agent.thread('t'));
      expect(await agent.run('Go on', thread)).toMatchObject({ text: 'All done.' });
      expect(thread.calls.map(({ toolName }) => toolName)).toEqual(['look', 'no_such_tool_']);
    },
  },
  {
    name: 'arguments that are no JSON get an error',
    rawInput: true,
    script: [{ calls: [{ id: 'c1', name: 'book', input: '{"city": "Par' }] }, done],
    async play(world) {
      const agent = world.agent();
      const response = await agent.run('Book', await agent.thread('t'));
      expect(statuses(response)).toEqual(['failed']);
      expect(response.text).toBe('All done.');
    },
  },
  {
    name: 'a tool that throws gives the model its message',
    script: [{ calls: [{ id: 'c1', name: 'fail', input: { city: 'Paris' } }] }, done],
    async play(world) {
      const agent = world.agent();
      const response = await agent.run('Fail', await agent.thread('t'));
      expect(response.text).toBe('All done.');
      expect(response.thread.calls).toMatchObject([
        { status: 'failed', outcome: { error: 'no flight to Paris' } },
      ]);
    },
  },
  {
    name: 'cancel while waiting: nothing runs, and the next message goes on',
    script: [{ calls: [look('c0', 'Rome'), book('c1', 'Paris'), book('c2', 'Oslo')] }, done],
    async play(world) {
      const agent = world.agent();
      const waiting = await agent.run('Book', await agent.thread('t'));
      const request = requestFor(waiting, 'Paris');
      expect(await agent.cancel(waiting.thread, 'changed my mind')).toMatchObject({
        status: 'cancelled',
        approvalRequests: [],
      });
      expect(await errorCode(agent.run(request.approve(), waiting.thread))).toBe('request-closed');
      const response = await agent.run('Just say hello', waiting.thread);
      expect(response.text).toBe('All done.');
      expect(cities(world, 'book')).toEqual([]);
      expect(statuses(response)).toEqual(['succeeded', 'denied', 'denied']);
    },
  },
  {
    name: "a message while requests are open is refused, or cancels them with whilePending: 'cancel'",
    script: [{ calls: [book('c1', 'Paris'), book('c2', 'Oslo')] }, done],
    async play(world) {
      const agent = world.agent();
      const { thread } = await agent.run('Book', await agent.thread('t'));
      const { revision } = thread;
      expect(await errorCode(agent.run('Hello?', thread))).toBe('requests-open');
      expect(thread.revision).toBe(revision);
      const response = await agent.run('Forget it', thread, { whilePending: 'cancel' });
      expect(response).toMatchObject({ status: 'completed', text: 'All done.' });
      expect(world.ran).toEqual([]);
      expect(thread.messages.map(({ role }) => role)).toEqual([
        'user',
        'assistant',
        'tool',
        'user',
        'assistant',
      ]);
    },
  },
  {
    name: 'a message that comes with the last answers follows their results',
    script: [{ calls: [book('c1', 'Paris')] }, done],
    async play(world) {
      const agent = world.agent();
      const waiting = await agent.run('Book', await agent.thread('t'));
      const answer = requestFor(waiting, 'Paris').approve();
      const response = await agent.run([answer, 'And tell me when'], waiting.thread);
      expect(response.text).toBe('All done.');
      expect(response.thread.messages.map(({ role }) => role)).toEqual([
        'user',
        'assistant',
        'tool',
        'user',
        'assistant',
      ]);
    },
  },
  {
    name: 'answers recorded by respond run nothing until a run goes on, in another agent',
    script: [{ calls: [book('c1', 'Paris'), book('c2', 'Rome')] }, done],
    async play(world) {
      const agent = world.agent();
      const waiting = await agent.run('Book', await agent.thread('t'));
      const inbox = world.agent();
      await inbox.respond(requestFor(waiting, 'Paris').approve(), await inbox.thread('t'));
      await inbox.respond(requestFor(waiting, 'Rome').reject('no'), await inbox.thread('t'));
      expect(world.ran).toEqual([]);
      const worker = world.agent();
      const thread = await worker.thread('t');
      expect(thread.status).toBe('due');
      expect(await worker.run([], thread)).toMatchObject({ status: 'completed' });
      expect(cities(world, 'book')).toEqual(['Paris']);
    },
  },
  {
    name: 'a run that takes all its steps leaves a thread that goes on',
    script: [{ calls: [look('c1', 'Paris')] }, { calls: [look('c2', 'Rome')] }, done],
    async play(world) {
      const agent = world.agent({ maxSteps: 2 });
      const { thread, status } = await agent.run('Look', await agent.thread('t'));
      expect(status).toBe('max-steps');
      expect(thread.status).toBe('idle');
      expect(await agent.run([], thread)).toMatchObject({ status: 'completed', text: 'All done.' });
      expect(cities(world, 'look')).toEqual(['Paris', 'Rome']);
    },
  },
];
