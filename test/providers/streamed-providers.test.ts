import { type Agent, type AgentStreamEvent, memoryStore } from 'holdpoint';
import { describe, expect, test } from 'vitest';
import { modes } from '../support/streaming-agent.ts';
import { book, look, travelWorld } from '../support/travel-world.ts';
import { withoutTimes } from '../support/without-times.ts';
import { providerKits, type ServedModel } from './model-kits.ts';
import type { ServedStep, ServedStream } from './served-stream.ts';
import { pickCases } from '../support/sampling.ts';

const done: ServedStep = { text: 'All done.' };
const reasoning = 'Où? 😀';
const text = 'Là: "😀"\n';
const city = 'São "Tomé" 😀\n\\u00e9';
/** A step that gets as far as its call's input. */
const broken: ServedStep = { calls: [book('c1', city)], stopsHalfway: true };

/** What becomes of a stream in the middle, and what the error says. */
const breaks: { how: string; cut: (stream: ServedStream) => Promise<void>; expected: RegExp }[] = [
  {
    how: 'whose connection drops',
    cut: (stream) => stream.drop(),
    expected: /terminated|Failed to process successful response/,
  },
  {
    how: 'that just ends',
    cut: (stream) => stream.end(),
    expected: /ended without a finish part|ended without a finish reason/,
  },
  {
    how: 'that says it fails',
    cut: (stream) => stream.fail('Overloaded.'),
    expected: /Overloaded/,
  },
];

/** An agent over a played model, and its thread. */
async function begin(played: ServedModel, speak?: (agent: Agent) => Agent) {
  const store = memoryStore();
  let ids = 0;
  const world = travelWorld(played, () => store, speak);
  const agent = world.agent({ generateId: () => `id-${(ids += 1)}`, maxRetries: 2 });
  return { agent, world, thread: await agent.thread('t') };
}

/** The first stream of a served model. */
function firstStream({ streams: [stream] }: ServedModel): ServedStream {
  if (stream === undefined) throw new Error('Nothing was streamed.');
  return stream;
}

/** What was told in the deltas of a type. */
function piecesOf(
  events: readonly AgentStreamEvent[],
  type: 'text-delta' | 'reasoning-delta' | 'tool-input-delta',
): string[] {
  return events.flatMap((event) => {
    if (event.type !== type) return [];
    return event.type === 'tool-input-delta' ? event.delta : event.text;
  });
}

describe.each(pickCases(providerKits))('streamed by $name', (kit) => {
  test('every piece is told, wherever it was cut, and comes to what is recorded', async () => {
    await using played = await kit.play([{ reasoning, text, calls: [book('c1', city)] }]);
    const { agent, thread } = await begin(played);
    const events: AgentStreamEvent[] = [];
    for await (const event of agent.stream('Book', thread)) events.push(event);
    expect(piecesOf(events, 'text-delta').join('')).toBe(text);
    const thought = kit.name === 'OpenAI chat completions' ? '' : reasoning;
    expect(piecesOf(events, 'reasoning-delta').join('')).toBe(thought);
    const input = piecesOf(events, 'tool-input-delta');
    expect(JSON.parse(input.join(''))).toEqual({ city });
    expect(input.filter((piece) => !piece.isWellFormed())).toHaveLength(2);
    expect(Math.max(...input.map(({ length }) => length))).toBe(1);
    expect(thread.activeApprovalRequests).toMatchObject([{ toolCall: { input: { city } } }]);
    expect(events.at(-1)).toMatchObject({ type: 'finish', response: { text, status: 'waiting' } });
  });

  test('what is recorded is what a whole answer leaves: signatures, item ids, usage and ends too', async () => {
    const script: ServedStep[] = [
      { reasoning, text, calls: [look('c1', city), look('c2', 'Oslo')] },
      { reasoning: '', calls: [look('c3', 'Rome')] },
      { reasoning: 'So be it.', finish: 'length' },
      { reasoning: 'Again.', text: 'And th', finish: 'content-filter' },
      done,
    ];
    const logs = [];
    for (const { speak } of modes) {
      await using played = await kit.play(script);
      const { agent, thread } = await begin(played, speak);
      await agent.run('Look', thread);
      await agent.run('Go on', thread);
      await agent.run('And?', thread);
      expect(played.violations).toEqual([]);
      logs.push(withoutTimes(thread.events));
    }
    expect(logs[1]).toEqual(logs[0]);
  });

  test.each(pickCases(breaks, 3))(
    'a stream $how leaves nothing of its step, and run([]) goes on',
    async (cut) => {
      await using played = await kit.play([broken, done]);
      const { agent, world, thread } = await begin(played);
      const stream = agent.stream('Book', thread);
      const events: AgentStreamEvent[] = [];
      for await (const event of stream) {
        events.push(event);
        if (piecesOf(events, 'tool-input-delta').length === 1) await cut.cut(firstStream(played));
      }
      await expect(stream.response).rejects.toThrow(cut.expected);
      expect(events.at(-1)?.type).toBe('error');
      expect(played.requests).toBe(1);
      expect(thread.messages).toHaveLength(1);
      expect(thread.calls).toEqual([]);
      expect(thread.status).toBe('due');
      expect(await agent.stream([], thread).response).toMatchObject({ text: 'All done.' });
      expect(world.ran).toEqual([]);
      expect(played.violations).toEqual([]);
    },
  );

  test.each(['an aborted signal', 'a reader that leaves'])(
    'the server sees %s in the middle, and the thread can go on',
    async (how) => {
      await using played = await kit.play([broken, done]);
      const { agent, thread } = await begin(played);
      const controller = new AbortController();
      const stream = agent.stream('Book', thread, { abortSignal: controller.signal });
      for await (const event of stream) {
        if (event.type !== 'tool-input-delta') continue;
        if (how === 'a reader that leaves') break;
        controller.abort();
      }
      expect(await firstStream(played).ended).toBe('cut off');
      await expect(stream.response).rejects.toMatchObject({ name: 'AbortError' });
      expect(thread.messages).toHaveLength(1);
      expect(thread.status).toBe('due');
      expect(await agent.run([], thread)).toMatchObject({ text: 'All done.' });
    },
  );

  test.runIf(kit.canStreamRepeatedIds === false)(
    'two calls of one id, which the package tells apart, are asked about each by its own',
    async () => {
      const calls = [book('c1', 'Paris'), book('c1', 'Rome')];
      await using played = await kit.play([{ reasoning, calls }, done]);
      const { agent, world, thread } = await begin(played);
      const waiting = await agent.stream('Book', thread).response;
      const asked = waiting.approvalRequests.map(({ toolCall }) => toolCall?.toolCallId);
      expect(new Set(asked).size).toBe(2);
      const [paris, rome] = waiting.approvalRequests;
      const answers = [rome?.reject('no') ?? [], paris?.approve() ?? []].flat();
      expect(await agent.stream(answers, thread).response).toMatchObject({ text: 'All done.' });
      expect(world.ran).toMatchObject([{ input: { city: 'Paris' } }]);
      expect(played.violations).toEqual([]);
    },
  );
});

/* It takes long, and what stops the server is the same for all. */
test.each(providerKits.slice(0, 1))(
  'streamed by $name, a reader that stops stops the server, while another one gets all',
  async (kit) => {
    const size = 32 * 1024 * 1024;
    const long: ServedStep = { text: 'x'.repeat(size), pieceLength: 64 * 1024 };
    await using played = await kit.play([long, long]);
    const { agent, thread } = await begin(played);
    const slow = agent.stream('Hi', thread)[Symbol.asyncIterator]();
    while ((await slow.next()).value?.type !== 'text-delta');
    let told = 0;
    for await (const event of agent.stream('Hi', await agent.thread('u'))) {
      if (event.type === 'text-delta') told += event.text.length;
      if (told === size) break;
    }
    expect(firstStream(played).bytes).toBeLessThan(size / 2);
    await slow.return?.();
    expect(await firstStream(played).ended).toBe('cut off');
    expect(thread.status).toBe('due');
  },
);
