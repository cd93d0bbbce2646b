import { type AgentThread, createAgent, HoldpointError, memoryStore } from 'holdpoint';
import { createCallbackHandler, remoteTool } from 'holdpoint/rap';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { mustHold } from '../faults/seeded-check.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { errorCode } from '../support/error-code.ts';
import { dismiss, pick, questionOf, script, secret } from './remote-world.ts';
import { countTrials } from '../support/sampling.ts';

const endpoint = 'https://tools.example.com/run';
const invocationSchema = z.object({ callback_url: z.string() });

/** What a tool server, people and workers do, in any order. */
type Move = (typeof moves)[number];
const moves = [
  'ask one',
  'ask other',
  'finish',
  'fail',
  'pick',
  'dismiss',
  'run',
  'cancel',
  'wait',
] as const;
/* Two waits are more than a call may take. */
const expiresAfterMs = 1_500;

/** A thread with one call, without a network. */
async function called(onDismiss: 'cancel' | 'default') {
  const posted: unknown[] = [];
  const cancelled: unknown[] = [];
  const clock = { now: 0 };
  let callbackUrl = '';
  const write = remoteTool({
    endpoint,
    description: 'Writes.',
    inputSchema: z.object({ path: z.string() }),
    callbackUrl: 'https://agent.example.com/rap',
    secret,
    onDismiss,
    expiresAfterMs,
    fetch: async (url, init) => {
      const { href } = z.instanceof(URL).parse(url);
      const body: unknown = JSON.parse(z.string().parse(init?.body));
      if (href === endpoint) callbackUrl = invocationSchema.parse(body).callback_url;
      else if (href.endsWith('/cancel_tool_call')) cancelled.push(body);
      else posted.push(body);
      return new Response();
    },
  });
  const tools = { write };
  const played = scriptedModel(script);
  const now = (): number => clock.now;
  const agent = createAgent({ model: played.model, tools, store: memoryStore(), now });
  const handler = createCallbackHandler({ agent, tools });
  const thread = await agent.thread('t');
  await agent.run('Write.', thread);
  const tell = async (message: object): Promise<void> => {
    const headers = { 'content-type': 'application/json' };
    const body = JSON.stringify({ group_id: 't', id: 'call_abc123', ...message });
    const response = await handler(new Request(callbackUrl, { method: 'POST', headers, body }));
    if (response.status !== 200) throw new Error(`HTTP ${response.status}`);
  };
  return { agent, thread, posted, cancelled, clock, played, tell };
}

type World = Awaited<ReturnType<typeof called>>;

const choice = (prompt: string) => ({
  type: 'user_choice',
  prompt,
  choices: ['Yes', 'No', 'Later'],
  default: 2,
  response_url: 'https://tools.example.com/answer',
});

async function make(move: Move, { agent, thread, clock, tell }: World): Promise<void> {
  switch (move) {
    case 'ask one':
    case 'ask other':
      await tell(choice(move));
      break;
    case 'finish':
    case 'fail':
      await tell({ type: 'tool_result', text: move === 'fail' ? 'Error: x' : 'x' });
      break;
    case 'run':
      await agent.run([], thread);
      break;
    case 'cancel':
      await agent.cancel(thread);
      break;
    case 'wait':
      clock.now += 1_000;
      break;
    case 'pick':
    case 'dismiss': {
      const found = await agent.thread('t');
      if (found.activeRequests.length === 0) break;
      const answer = move === 'pick' ? pick(found, 1) : dismiss(found);
      const isOver = (questionOf(found).expiresAt ?? Infinity) <= clock.now;
      const refusal = await errorCode(agent.respond(answer, found));
      if (refusal !== (isOver ? 'request-closed' : 'no error'))
        throw new Error(`It is ${String(refusal)}.`);
    }
  }
}

/** A cancellation is sent right after the end of its call, and nothing waits for it. */
async function toldOf({ events }: AgentThread, { cancelled }: World): Promise<void> {
  const ends = events.filter((event) => event.type === 'call-ended');
  const forgotten = ends.filter(({ source }) => source !== 'delivered');
  while (cancelled.length < forgotten.length) await new Promise(setImmediate);
}

/** What the log and the wire do not agree on, whatever the order was. */
function faults(
  { events, calls, activeRequests }: AgentThread,
  { posted, cancelled, played }: World,
) {
  const ends = events.filter((event) => event.type === 'call-ended');
  const answers = events.filter(({ type }) => type === 'request-answered');
  const delivered = events.filter(({ type }) => type === 'answer-delivered');
  const picks = posted.map((body) =>
    z.strictObject({ id: z.string(), selected: z.int() }).parse(body),
  );
  const forgotten = ends.filter(({ source }) => source !== 'delivered');
  const checks: [isFault: boolean, what: string][] = [
    [ends.length > 1, 'two ends'],
    [JSON.stringify(calls[0]?.outcome) !== JSON.stringify(ends[0]?.outcome), 'another outcome'],
    [ends.length > 0 && activeRequests.length > 0, 'a question of a call that has ended'],
    [ends.length === 0 && played.requests > 1, 'the model was asked while the call was open'],
    [posted.length !== delivered.length, 'what was posted is not what was delivered'],
    [delivered.length > answers.length, 'more was delivered than answered'],
    [cancelled.length !== forgotten.length, 'the server was told of another end'],
    [picks.some(({ selected }) => selected !== 1 && selected !== 2), 'a choice of nobody'],
  ];
  return checks.filter(([isFault]) => isFault).map(([, what]) => what);
}

test.each(['cancel', 'default'] as const)(
  '96: in whatever order messages, answers, runs, cancels and the time come, the call ends once and each choice goes out once, onDismiss: %s',
  async (onDismiss) => {
    await mustHold(
      fc.asyncProperty(fc.array(fc.constantFrom(...moves), { maxLength: 12 }), async (order) => {
        const world = await called(onDismiss);
        for (const move of order) {
          try {
            await make(move, world);
          } catch (error) {
            if (!HoldpointError.isInstance(error)) throw error;
            throw new Error(`${move}: ${error.code}`, { cause: error });
          }
          const found = await world.agent.thread('t');
          await toldOf(found, world);
          expect(faults(found, world)).toEqual([]);
        }
        await make('finish', world);
        await world.agent.run([], world.thread);
        await toldOf(world.thread, world);
        expect(faults(world.thread, world)).toEqual([]);
        expect(world.thread.status).toBe('idle');
        expect(world.played.requests).toBe(2);
      }),
      { numRuns: countTrials(150) },
    );
  },
);
