import { HttpAgent, type RunAgentParameters } from '@ag-ui/client';
import { EventType } from '@ag-ui/core';
import { memoryStore, type AgentOptions, type ThreadStore } from 'holdpoint';
import { type AgUiHandlerOptions, createAgUiHandler } from 'holdpoint/ag-ui';
import { expect, onTestFinished, vi } from 'vitest';
import { serveFetch } from '../../examples/serve-fetch.ts';
import type { ScriptedStep } from '../support/script.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import { travelWorld } from '../support/travel-world.ts';
import { checkedEvents, type Told } from './checked-events.ts';

/** A route, as `createAgUiHandler` makes it. */
export type Handler = (request: Request) => Promise<Response>;

/** Where the routes of tests are. */
export const url = 'http://client.test/ag-ui';

/** What a client has got. */
interface Received {
  status: number;
  events: Told[];
  text: string;
}

/** A thread's store and model, and workers with a route each. */
export function site(
  script: ScriptedStep[],
  agentOptions: Partial<AgentOptions> = {},
  open: () => ThreadStore = once(memoryStore),
) {
  const played = scriptedModel(script);
  const world = travelWorld(played, open);
  const worker = (options: Partial<AgUiHandlerOptions> = {}, more: Partial<AgentOptions> = {}) => {
    const agent = world.agent({ ...agentOptions, ...more });
    const handler = createAgUiHandler({
      agent,
      authorize: () => ({ principal: 'ann' }),
      /* A test that has the time in its hands says for what. */
      keepAliveMs: 0,
      ...options,
    });
    return { agent, handler, post: poster(handler) };
  };
  return { played, world, worker, ...worker() };
}

function once<VALUE>(make: () => VALUE): () => VALUE {
  const value = make();
  return () => value;
}

/** Posts to a route what a client might, and checks what comes. */
export function poster(handler: Handler) {
  return async (body: unknown, headers: Record<string, string> = {}): Promise<Received> => {
    const response = await handler(post(body, headers));
    const text = await response.text();
    const events = response.status === 200 ? checkedEvents(text) : [];
    return { status: response.status, events, text };
  };
}

/** Waits for the next turn of the event loop, as the look of a route at a thread. */
export async function nextTurn(): Promise<void> {
  await new Promise(setImmediate);
}

/** A request to a route. */
export function post(body: unknown, headers: Record<string, string> = {}): Request {
  return new Request(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
}

/** The input of a run of thread `t`, as a client of AG-UI 1.0 sends it. */
export function runInput(more: object = {}): object {
  const own = { threadId: 't', runId: 'r', protocolVersion: '1.0' };
  return { ...own, messages: [], tools: [], context: [], ...more };
}

/** A message of a user. */
export function user(id: string, content: unknown = 'Hi') {
  return { id, role: 'user' as const, content };
}

/** Serves a route with node:http until the test is over, and gives its address. */
export async function served(handler: Handler): Promise<string> {
  const server = await serveFetch(handler, 0);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (typeof address !== 'object' || address === null) throw new Error('It does not listen.');
  return `http://127.0.0.1:${address.port}/`;
}

/**
 * The protocol's own client as it is, its warnings failures; every stream that it reads is read by the test's own reader too.
 * `address`, of a server or the route itself, may change while the client lives: the server was started again.
 */
export function client(address: string | Handler, { threadId = 't' } = {}) {
  const at: { address: string | Handler } = { address };
  const streams: Promise<string>[] = [];
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {});
  vi.spyOn(console, 'error').mockImplementation(() => {});
  onTestFinished(() => {
    expect(warn.mock.calls).toEqual([]);
    vi.restoreAllMocks();
  });
  const agent = new HttpAgent({
    url: typeof address === 'string' ? address : url,
    threadId,
    fetch: async (_url, init) => {
      const response =
        typeof at.address === 'string'
          ? await fetch(at.address, init)
          : await at.address(new Request(url, init));
      streams.push(response.clone().text());
      return response;
    },
  });
  let runs = 0;
  /** One run, and its events. */
  const run = async (parameters: RunAgentParameters = {}): Promise<Told[]> => {
    runs += 1;
    await agent.runAgent({ runId: `r${runs}`, ...parameters });
    return checkedEvents((await streams.at(-1)) ?? '');
  };
  let said = 0;
  /** The user says something. */
  const say = async (content: string): Promise<Told[]> => {
    said += 1;
    agent.addMessage({ id: `m${said}`, role: 'user', content });
    return run();
  };
  /** Answers all interrupts that the client knows, each with its payload; without one, it is cancelled. */
  const answer = async (...payloads: unknown[]): Promise<Told[]> =>
    run({
      resume: agent.pendingInterrupts.map(({ id: interruptId }, index) => {
        const payload = payloads[index];
        return payload === undefined
          ? { interruptId, status: 'cancelled' as const }
          : { interruptId, status: 'resolved' as const, payload };
      }),
    });
  return { agent, at, run, say, answer };
}

/** The types of events, those in a row of one type once. */
export function typesOf(events: readonly Told[]): string[] {
  const types: string[] = events.map(({ type }) => type);
  return types.filter((type, index, all) => type !== all[index - 1]);
}

/** What a run came to: its outcome, or the code of its error. */
export function endOf(events: readonly Told[]): unknown {
  const last = events.at(-1);
  if (last?.type === EventType.RUN_FINISHED) return last.outcome;
  return last?.type === EventType.RUN_ERROR ? last.code : last;
}

/** The events of a type. */
export function ofType<TYPE extends `${Told['type']}`>(events: readonly Told[], type: TYPE) {
  return events.filter((event): event is Extract<Told, { type: TYPE }> => event.type === type);
}

/** The CUSTOM events of a name, by their values. */
export function custom(events: readonly Told[], name: string): unknown[] {
  return ofType(events, 'CUSTOM')
    .filter((event) => event.name === name)
    .map(({ value }) => value);
}
