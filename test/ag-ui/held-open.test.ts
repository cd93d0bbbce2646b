import { tool, type ToolSet } from 'ai';
import { type Agent, type AgentOptions, later, laterWithin, type Question } from 'holdpoint';
import type { AgUiHandlerOptions } from 'holdpoint/ag-ui';
import { describe, expect, test } from 'vitest';
import { cityInput, look, travelTools } from '../support/travel-world.ts';
import { endOf, ofType, post, runInput, site, typesOf, user } from './ag-ui-site.ts';
import { checkedEvents } from './checked-events.ts';
import { olderEvents } from './older-client.ts';

const options = ['Window', 'Aisle'].map((label, index) => ({ id: String(index), label }));
const seat: Question = {
  kind: 'choice',
  text: 'Which seat?',
  fields: [{ key: 'choice', label: 'Which seat?', options, min: 1, max: 1, freeText: 'never' }],
  allowDismiss: true,
};
const far: ToolSet[string] = tool({ inputSchema: cityInput, execute: async () => later });
const answering = { [Symbol.for('holdpoint.answering')]: { deliver: async () => {} } };
const said = runInput({ messages: [user('u1')] });
const day = 86_400_000;

/** What the world does at each poll, in turn; afterwards the time is over. */
type Turn = (agent: Agent) => Promise<unknown>;

/** A thread whose calls are done elsewhere, and a route that holds its streams open. */
function holding(
  turns: Turn[],
  more: Partial<AgUiHandlerOptions> = {},
  agentOptions: Partial<AgentOptions> = {},
  cities: string[] = ['Oslo'],
) {
  const script = [
    { calls: cities.map((city, index) => look(`c${index + 1}`, city)) },
    { text: 'Seated.' },
  ];
  const tools = { ...travelTools([]), look: Object.assign(far, answering) };
  const at = site(script, { tools, ...agentOptions });
  const waits: number[] = [];
  const over = Promise.withResolvers<void>();
  const worker = at.worker({
    holdOpenMs: day,
    pollMs: 7,
    wait: async (milliseconds, signal) => {
      waits.push(milliseconds);
      if (milliseconds === day) return over.promise;
      const turn = turns.shift();
      if (turn !== undefined) return turn(at.agent);
      over.resolve();
      await new Promise<void>((resolve) => {
        if (signal.aborted) resolve();
        signal.addEventListener('abort', () => resolve());
      });
      return undefined;
    },
    ...more,
  });
  return { ...at, ...worker, world: at.agent, waits };
}

const asks: Turn = async (agent) =>
  agent.requestAnswer(await agent.thread('t'), 'c1', seat, { replyTo: {} });
const ends =
  (toolCallId: string): Turn =>
  async (agent) =>
    agent.deliver(await agent.thread('t'), toolCallId, { status: 'succeeded', output: '12A' });
const nothing: Turn = async () => {};

describe('a run that waits for a tool elsewhere alone, and is held open,', () => {
  test('brings the question that the tool asks later, to be answered', async () => {
    const at = holding([nothing, nothing, asks]);
    const { events } = await at.post(said);
    expect(endOf(events)).toMatchObject({
      type: 'interrupt',
      interrupts: [{ message: 'Which seat?', toolCallId: 'c1' }],
    });
    expect(at.waits).toEqual([day, 7, 7, 7]);
  });

  test('brings it to a client before 1.0 as well', async () => {
    const at = holding([asks]);
    const { text } = await at.post({ ...said, protocolVersion: undefined });
    expect(olderEvents(text).at(-1)).toMatchObject({ outcome: { type: 'interrupt' } });
  });

  test('brings the result of the call, and what the model says to it', async () => {
    const at = holding([nothing, ends('c1')]);
    const { events } = await at.post(said);
    expect(typesOf(events).slice(-5)).toEqual([
      'TOOL_CALL_RESULT',
      'TEXT_MESSAGE_START',
      'TEXT_MESSAGE_CONTENT',
      'TEXT_MESSAGE_END',
      'RUN_FINISHED',
    ]);
    expect(endOf(events)).toEqual({ type: 'success' });
    expect(at.played.requests).toBe(2);
  });

  test('goes on waiting for the other of two calls', async () => {
    const at = holding([ends('c2'), nothing, ends('c1')], {}, {}, ['Oslo', 'Rome']);
    const { events } = await at.post(said);
    expect(ofType(events, 'TOOL_CALL_RESULT')).toMatchObject([
      { toolCallId: 'c2' },
      { toolCallId: 'c1' },
    ]);
    expect(endOf(events)).toEqual({ type: 'success' });
    expect(at.waits.filter((each) => each === day)).toHaveLength(1);
  });

  test('brings that the call was not ended in time, though no worker is there', async () => {
    const clock = { now: 0 };
    const slow = tool({ inputSchema: cityInput, execute: async () => laterWithin(60_000) });
    const at = holding(
      [
        nothing,
        async () => {
          clock.now = 60_000;
        },
      ],
      {},
      { now: () => clock.now, tools: { ...travelTools([]), look: slow } },
    );
    const { events } = await at.post(said);
    expect(ofType(events, 'TOOL_CALL_RESULT')).toMatchObject([
      { toolCallId: 'c1', metadata: { holdpoint: { status: 'failed' } } },
    ]);
    expect(endOf(events)).toEqual({ type: 'success' });
  });

  test('ends when its time is over, and the next run brings what came since', async () => {
    const at = holding([nothing]);
    const { events } = await at.post(said);
    expect(endOf(events)).toEqual({ type: 'success', pendingToolCallIds: ['c1'] });
    await asks(at.agent);
    const next = await at.post(runInput());
    expect(endOf(next.events)).toMatchObject({ type: 'interrupt' });
  });

  test('waits on for the result after the question was answered', async () => {
    const at = holding([asks]);
    const { events } = await at.post(said);
    const [asked] = ofType(events, 'RUN_FINISHED').flatMap(({ outcome }) =>
      outcome?.type === 'interrupt' ? outcome.interrupts : [],
    );
    const resume = [
      { interruptId: asked?.id, status: 'resolved', payload: { selectedOptionId: '1' } },
    ];
    const next = holdingOf(at, [nothing, ends('c1')]);
    const answered = await next.post(runInput({ resume }));
    expect(ofType(answered.events, 'TOOL_CALL_RESULT')).toMatchObject([{ content: '12A' }]);
    expect(endOf(answered.events)).toEqual({ type: 'success' });
  });

  test('ends at once for calls that the client itself runs', async () => {
    const at = holding([], { clientTools: ['look'] });
    const { events } = await at.post(said);
    expect(endOf(events)).toEqual({ type: 'success', pendingToolCallIds: ['c1'] });
    expect(at.waits).toEqual([]);
  });

  test('is looked after no more when the client has left', async () => {
    const leaving = new AbortController();
    const at = holding([nothing, async () => leaving.abort()]);
    const request = new Request(post(said), { signal: leaving.signal });
    const response = await at.handler(request);
    await response.text().catch(() => '');
    await new Promise(setImmediate);
    expect(at.waits).toEqual([day, 7, 7]);
    expect((await at.agent.thread('t')).calls).toMatchObject([{ status: 'deferred' }]);
  });
});

/** The same thread behind a route with other turns. */
function holdingOf(at: ReturnType<typeof holding>, turns: Turn[]) {
  return at.worker({
    holdOpenMs: day,
    pollMs: 7,
    wait: async (milliseconds) =>
      milliseconds === day ? new Promise(() => {}) : turns.shift()?.(at.agent),
  });
}

test.each([-1, Number.NaN, 2 ** 31])('holdOpenMs: %d is a TypeError', (holdOpenMs) => {
  expect(() => site([]).worker({ holdOpenMs })).toThrow(TypeError);
});

test('without holdOpenMs such a run ends at once', async () => {
  const at = holding([], { holdOpenMs: 0 });
  const response = await at.handler(post(said));
  expect(endOf(checkedEvents(await response.text()))).toEqual({
    type: 'success',
    pendingToolCallIds: ['c1'],
  });
  expect(at.waits).toEqual([]);
});
