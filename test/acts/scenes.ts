import { tool } from 'ai';
import {
  type Agent,
  type AgentOptions,
  type AgentThread,
  approve,
  type ApprovalRequest,
  createAgent,
  memoryStore,
  type QuestionRequestContent,
  type ThreadStore,
  type UserApproval,
} from 'holdpoint';
import { agentTool, questionTools } from 'holdpoint/tools';
import { scriptedModel } from 'holdpoint/testing';
import { z } from 'zod';
import { deciders, type SceneName } from './acts.ts';
import type { ScriptedCall } from '../support/script.ts';

type ApproveOptions = NonNullable<Parameters<typeof approve>[1]>;

/** An agent in a scene, and the thread that the scene is about. */
export interface World {
  agent: Agent;
  store: ThreadStore;
  threadId: string;
  /** Whether it happens below: then the agent is the one that people talk to. */
  below?: { agent: Agent; threadId: string };
  /** Closes what the scene has opened. */
  close?: () => Promise<unknown>;
}

/** The thread that people see. */
export async function threadOf({ agent, threadId }: World): Promise<AgentThread> {
  return agent.thread(threadId);
}

/** The only approval request that is open. */
export async function requestOf(world: World): Promise<ApprovalRequest> {
  const [request] = (await threadOf(world)).activeApprovalRequests;
  if (request === undefined) throw new Error('Nobody is asked.');
  return request;
}

/** The only question that is open. */
export async function questionOf(world: World): Promise<QuestionRequestContent> {
  const found = (await threadOf(world)).activeRequests.find(
    (request) => request.type === 'question-request',
  );
  if (found === undefined) throw new Error('Nothing is asked.');
  return found;
}

/** The id of the thread's only call. */
export async function callOf(world: World): Promise<string> {
  const [call] = (await threadOf(world)).calls;
  if (call === undefined) throw new Error('There is no call.');
  return call.toolCallId;
}

/** How many events each thread has. */
export async function countEvents({ store }: World): Promise<Record<string, number>> {
  const threads = await store.list({});
  return Object.fromEntries(threads.map(({ threadId, revision }) => [threadId, revision]));
}

const leaseMs = 60_000;

/** The tools of the agent. A payment of a process that dies never ends. */
export function deskTools(whilePaying: () => Promise<string> = async () => 'Paid.') {
  return {
    pay: tool({
      description: 'Pays somebody.',
      inputSchema: z.object({ to: z.string(), euros: z.number() }),
      execute: whilePaying,
    }),
    ship: tool({ description: 'Ships something.', inputSchema: z.object({}) }),
    ...questionTools(),
  };
}

const payment = { id: 'c1', name: 'pay', input: { to: 'ACME', euros: 500 } };
const shipment = { id: 'c1', name: 'ship', input: {} };
const choice = {
  id: 'c1',
  name: 'user_choice',
  input: { question: 'Which?', options: '["red","blue"]' },
};

/** What a standing approval may cover. */
export const remember = { scope: 'everyone', match: 'exact' } as const;

/** What the model does first, the rule about payments, and what people have done since. */
interface Scene {
  first: ScriptedCall | 'fails' | 'hangs';
  rule?: Partial<Exclude<UserApproval, string>>;
  /** What Ada says to what is asked. */
  vote?: ApproveOptions;
  /** What follows that. */
  after?: (world: World, setting: Setting) => Promise<unknown>;
}

interface Setting {
  clock: { now: number };
  /** The agent in another process, in which a payment never ends; and when it has begun. */
  openDying: () => { agent: Agent; hasBegun: Promise<void> };
}

const ada = { principal: 'ada', channel: 'desk' };
const eve = { principal: 'eve', channel: 'desk' };

/** Ada approves what is asked. */
export async function approveAsAda(world: World, more: ApproveOptions = {}): Promise<void> {
  const answer = approve(await requestOf(world), more);
  await world.agent.respond(answer, await threadOf(world), ada);
}

/** Everything that may have happened. */
export const scenes: Record<SceneName, Scene> = {
  asked: { first: payment },
  rememberable: { first: payment, rule: { remember } },
  approved: { first: payment, rule: { remember }, vote: {} },
  remembered: { first: payment, rule: { remember }, vote: { remember } },
  voted: { first: payment, rule: { quorum: 2 }, vote: {} },
  question: { first: choice },
  unanswered: { first: 'fails' },
  stuck: { first: 'fails' },
  lost: {
    first: payment,
    vote: {},
    async after(world, { clock, openDying }) {
      const { agent, hasBegun } = openDying();
      void agent.run([], await agent.thread(world.threadId));
      await hasBegun;
      clock.now += leaseMs;
      /* Whoever opens the thread notes that the call is lost. */
      await threadOf({ ...world, ...world.below });
      await threadOf(world);
    },
  },
  deferred: { first: shipment },
  running: { first: 'hangs' },
  stopped: {
    first: 'hangs',
    after: async (world) => world.agent.stop(await threadOf(world), eve),
  },
  held: {
    first: payment,
    vote: {},
    after: async (world) => world.agent.stop(await threadOf(world), eve),
  },
};

/** Opens a scene with an agent of its own, or with one that works for another. */
export async function openScene(
  name: SceneName,
  { store = memoryStore(), isBelow = false }: { store?: ThreadStore; isBelow?: boolean } = {},
): Promise<World> {
  const { first, rule = {}, vote, after } = scenes[name];
  const clock = { now: Date.UTC(2026, 10, 28) };
  const { promise: hanging, resolve: hangs } = Promise.withResolvers<void>();
  let steps = 0;
  const { model } = scriptedModel(async () => {
    steps += 1;
    if (steps > 1) return { text: 'Done.' };
    if (first === 'fails') return { fail: 'The provider is down.' };
    if (first !== 'hangs') return { calls: [first] };
    hangs();
    return new Promise(() => {});
  });
  const shared: Partial<AgentOptions> = {
    store,
    leaseMs,
    now: () => clock.now,
    maxRetries: 0,
    retry: { maxAttempts: 1 },
    mayAnswer: ({ principal }) => deciders.includes(principal),
  };
  const open = (tools = deskTools()): { desk: Agent; agent: Agent } => {
    const toolApproval = { pay: { type: 'user-approval', ...rule } } as const;
    const desk = createAgent({ name: 'desk', model, tools, toolApproval, ...shared });
    return { desk, agent: isBelow ? makeFront(desk, shared) : desk };
  };
  const openDying = () => {
    const { promise: hasBegun, resolve } = Promise.withResolvers<void>();
    const never = async () => {
      resolve();
      return new Promise<never>(() => {});
    };
    return { agent: open(deskTools(never)).agent, hasBegun };
  };
  const { desk, agent } = open();
  const world: World = { agent, store, threadId: 't' };
  const input = {
    role: 'user' as const,
    content: 'Pay ACME.',
    providerOptions: { holdpoint: { messageId: 'm1' } },
  };
  const running = agent.run(input, await threadOf(world), { principal: 'cleo', channel: 'desk' });
  if (first === 'hangs') await hanging;
  else await running.catch(() => {});
  running.catch(() => {});
  if (isBelow) await addChild(world, desk);
  if (vote !== undefined) await approveAsAda(world, vote);
  await after?.(world, { clock, openDying });
  return world;
}

/** The agent that people talk to, where the desk works for another. */
function makeFront(desk: Agent, shared: Partial<AgentOptions>): Agent {
  const calls = [{ id: 'c0', name: 'desk', input: { prompt: 'Pay ACME.' } }];
  const { model } = scriptedModel([{ calls }, { text: 'Done.' }], { repeat: true });
  const tools = { desk: agentTool(desk, { description: 'Pays.' }) };
  return createAgent({ name: 'front', model, tools, ...shared });
}

async function addChild(world: World, desk: Agent): Promise<void> {
  const threads = await world.store.list({ agent: 'desk' });
  const [{ threadId } = { threadId: '' }] = threads;
  world.below = { agent: desk, threadId };
}
