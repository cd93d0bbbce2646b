import { APICallError } from 'ai';
import { type AgentResponse, memoryStore, type RunInput } from 'holdpoint';
import { approvalResponseSchema } from 'holdpoint/schemas';
import { describe, expect, test } from 'vitest';
import type { PlayedModel, ScriptedStep } from '../support/script.ts';
import { modes } from '../support/streaming-agent.ts';
import { book, look, travelWorld } from '../support/travel-world.ts';
import { providerKits } from './model-kits.ts';
import { pickCases } from '../support/sampling.ts';

const done: ScriptedStep = { text: 'All done.' };

/** A provider's package, and how agents run. */
const ways = modes.flatMap(({ mode, speak }) =>
  providerKits.map((kit) => ({ kit, mode, speak, name: `${mode}, ${kit.name}` })),
);
type Way = (typeof ways)[number];

/** An agent at work with a played model; at its end, the provider must have had nothing to refuse. */
async function begin({ kit, speak }: Way, script: ScriptedStep[]) {
  const played = await kit.play(script);
  const store = memoryStore();
  const world = travelWorld(played, () => store, speak);
  const agent = world.agent();
  const thread = await agent.thread('t');
  return {
    played,
    world,
    thread,
    run: (input: RunInput) => agent.run(input, thread),
    /** To be `finished`. */
    outcome: ({ status, text }: AgentResponse) => ({ status, text, violations: played.violations }),
    ran: () => world.ran.map(({ name, input }) => `${name} ${Reflect.get(Object(input), 'city')}`),
    [Symbol.asyncDispose]: () => played[Symbol.asyncDispose](),
  };
}

/** What every story comes to. */
const finished = { status: 'completed', text: 'All done.', violations: [] };

function lastBody({ bodies = [] }: PlayedModel): string {
  return JSON.stringify(bodies.at(-1));
}

function requestFor({ approvalRequests }: AgentResponse, city: string) {
  const request = approvalRequests.find(({ toolCall }) =>
    JSON.stringify(toolCall?.input).includes(city),
  );
  if (request === undefined) throw new Error(`Nothing is asked about ${city}.`);
  return request;
}

describe.each(pickCases(ways, 3))('over HTTP, $name', (way) => {
  const { kit, mode } = way;
  const canRepeatIds = mode === 'run' || kit.canStreamRepeatedIds !== false;

  test('plain text', async () => {
    await using story = await begin(way, [{ reasoning: 'A greeting.', ...done }, done]);
    expect(story.outcome(await story.run('Hi'))).toEqual(finished);
    expect(story.outcome(await story.run('Hi again'))).toEqual(finished);
  });

  test('a message under the id that its client has for it, of which the provider is not told', async () => {
    await using story = await begin(way, [done]);
    const providerOptions = { holdpoint: { messageId: 'known-here-alone' } };
    const run = story.run({ role: 'user', content: 'Hi', providerOptions });
    expect(story.outcome(await run)).toEqual(finished);
    expect(lastBody(story.played)).not.toContain('known-here-alone');
  });

  test('one call, approved', async () => {
    const first = { reasoning: 'Paris it is.', text: 'One moment.', calls: [book('c1', 'Paris')] };
    await using story = await begin(way, [first, done]);
    const waiting = await story.run('Book Paris');
    expect(waiting).toMatchObject({ status: 'waiting', text: 'One moment.' });
    expect(story.ran()).toEqual([]);
    expect(story.outcome(await story.run(requestFor(waiting, 'Paris').approve()))).toEqual(
      finished,
    );
    expect(story.ran()).toEqual(['book Paris']);
    expect(lastBody(story.played)).toContain('booked');
  });

  test('one call, rejected with a reason', async () => {
    await using story = await begin(way, [{ reasoning: '', calls: [book('c1', 'Paris')] }, done]);
    const waiting = await story.run('Book Paris');
    const no = requestFor(waiting, 'Paris').reject('too dear');
    expect(story.outcome(await story.run(no))).toEqual(finished);
    expect(story.ran()).toEqual([]);
    expect(lastBody(story.played)).toContain('too dear');
  });

  test('two calls, one approved, one rejected, one by one', async () => {
    const calls = [book('c1', 'Paris'), book('c2', 'Rome')];
    await using story = await begin(way, [{ reasoning: 'Both.', calls }, done]);
    const waiting = await story.run('Book both');
    const half = await story.run(requestFor(waiting, 'Rome').reject());
    expect(half.status).toBe('waiting');
    expect(story.played.requests).toBe(1);
    expect(story.outcome(await story.run(requestFor(half, 'Paris').approve()))).toEqual(finished);
    expect(story.ran()).toEqual(['book Paris']);
  });

  test('a call that runs at once beside one that waits', async () => {
    const calls = [book('c1', 'Paris'), look('c2', 'Rome')];
    await using story = await begin(way, [{ text: 'Both.', calls }, done]);
    const waiting = await story.run('Book one, look at one');
    expect(story.ran()).toEqual(['look Rome']);
    const yes = requestFor(waiting, 'Paris').approve();
    expect(story.outcome(await story.run(yes))).toEqual(finished);
    expect(story.ran()).toEqual(['look Rome', 'book Paris']);
    expect(lastBody(story.played)).toMatch(/booked.*a flight to Rome/);
  });

  test('arguments that are no JSON object', async () => {
    const input = kit.canSendRawInput === false ? '"Paris"' : '{"city":';
    const script = [{ calls: [{ id: 'c1', name: 'book', input }] }, done];
    await using story = await begin(way, script);
    expect(story.outcome(await story.run('Book Paris'))).toEqual(finished);
    expect(story.ran()).toEqual([]);
  });

  test('arguments that are not the schema’s', async () => {
    const calls = [{ id: 'c1', name: 'book', input: { town: 'Paris' } }, look('c2', 'Rome')];
    await using story = await begin(way, [{ reasoning: 'Hm.', calls }, done]);
    expect(story.outcome(await story.run('Book Paris'))).toEqual(finished);
    expect(story.ran()).toEqual(['look Rome']);
  });

  test.runIf(canRepeatIds)('two calls of one id', async () => {
    const calls = [book('c1', 'Paris'), book('c1', 'Rome')];
    await using story = await begin(way, [{ reasoning: 'Both.', calls }, done]);
    const response = await story.run('Book both');
    expect(story.outcome(response)).toEqual(finished);
    expect(response.thread.calls.map(({ status }) => status)).toEqual(['failed', 'failed']);
    expect(story.ran()).toEqual([]);
  });

  test('a call id that was used in an earlier step', async () => {
    const steps = ['Paris', 'Rome'].map((city) => ({
      reasoning: `First ${city}.`,
      calls: [book('c1', city)],
    }));
    await using story = await begin(way, [...steps, done, done]);
    let response = await story.run('Book both');
    for (const city of ['Paris', 'Rome']) {
      response = await story.run(requestFor(response, city).approve());
    }
    expect(story.outcome(response)).toEqual(finished);
    expect(story.outcome(await story.run('Thanks'))).toEqual(finished);
    expect(story.ran()).toEqual(['book Paris', 'book Rome']);
  });

  test.each(['length', 'content-filter'] as const)('a step cut off by %s', async (finish) => {
    const cut = { reasoning: 'Quick.', text: 'One mom', calls: [book('c1', 'Paris')], finish };
    await using story = await begin(way, [cut, done]);
    const response = await story.run('Book Paris');
    expect(story.outcome(response)).toEqual(finished);
    expect(story.ran()).toEqual([]);
    expect(lastBody(story.played)).toContain(finish);
  });

  test('a failure of the provider after an approved call', async () => {
    const script = [{ calls: [book('c1', 'Paris')] }, { fail: 'No credit.' }, done];
    await using story = await begin(way, script);
    const waiting = await story.run('Book Paris');
    const failing = story.run(requestFor(waiting, 'Paris').approve());
    await expect(failing).rejects.toThrow(APICallError);
    await expect(failing).rejects.toThrow('No credit.');
    expect(story.outcome(await story.run([]))).toEqual(finished);
    expect(story.ran()).toEqual(['book Paris']);
    expect(story.played.bodies?.[2]).toEqual(story.played.bodies?.[1]);
  });

  test.each(['Paris it is.', ''])(
    'a restart at the pause, with reasoning "%s"',
    async (reasoning) => {
      const calls = [book('c1', 'Paris')];
      await using story = await begin(way, [{ reasoning, text: 'One moment.', calls }, done, done]);
      const waiting = await story.run('Book Paris');
      const yes = JSON.stringify(requestFor(waiting, 'Paris').approve());
      const agent = story.world.agent({ store: memoryStore() });
      const thread = await agent.restore(JSON.stringify(story.thread));
      const answer = approvalResponseSchema.parse(JSON.parse(yes));
      expect(story.outcome(await agent.run(answer, thread))).toEqual(finished);
      expect(story.outcome(await agent.run('Thanks', thread))).toEqual(finished);
      expect(story.ran()).toEqual(['book Paris']);
    },
  );
});

test.each([
  ['OpenAI Responses, stored', '"item_reference","id":"rs_1"'],
  ['OpenAI Responses, stateless', '"encrypted_content":"'],
  ['Anthropic messages', '"signature":"'],
  ['OpenAI-compatible chat completions', '"reasoning_content":"Paris'],
])('%s: the reasoning comes back, from run and stream', async (name, wire) => {
  const both = ways.filter(({ kit }) => kit.name === name);
  expect(both).toHaveLength(2);
  for (const way of both) {
    const first = { reasoning: 'Paris it is.', calls: [look('c1', 'Paris')] };
    await using story = await begin(way, [first, done]);
    expect(story.outcome(await story.run('Look at Paris'))).toEqual(finished);
    expect(lastBody(story.played)).toContain(wire);
  }
});

test('a kit that has no text for arguments refuses a script that does', async () => {
  const [kit] = providerKits.filter(({ canSendRawInput }) => canSendRawInput === false);
  const script = [{ calls: [{ id: 'c1', name: 'book', input: '{"city":' }] }];
  await expect(kit?.play(script)).rejects.toThrow("can't carry");
});
