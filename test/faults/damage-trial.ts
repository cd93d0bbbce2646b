import { isDeepStrictEqual } from 'node:util';
import {
  type Agent,
  type AgentThread,
  createAgent,
  HoldpointError,
  memoryStore,
  type ThreadEvent,
  type ThreadStore,
} from 'holdpoint';
import { eventsIn } from '../support/events-in.ts';
import { audit } from './auditor.ts';
import { callHistories, callOf } from './call-histories.ts';
import type { Effect } from './evidence.ts';
import { goldenThread } from './golden-thread.ts';
import { notingTool } from './noting-tool.ts';
import { statelessModel } from './stateless-model.ts';

/** What one damaged thread came to. */
export interface Trial {
  outcome: 'opened' | 'refused';
  /** What must not have been, in sentences. */
  faults: string[];
}

/** How a damaged thread is opened. */
export interface Opening {
  store: ThreadStore;
  threadId: string;
  /** What the thread was before it was damaged. */
  sound: readonly ThreadEvent[];
  open: (agent: Agent) => Promise<AgentThread>;
}

const { threadId: goldenId, sound: goldenEvents } = goldenThread();

/** Tries the JSON form of the golden thread, damaged. */
export async function tryRestoring(damaged: string): Promise<Trial> {
  const open = async (agent: Agent) => agent.restore(damaged);
  return tryDamaged({ store: memoryStore(), threadId: goldenId, sound: goldenEvents, open });
}

/**
 * Opens a damaged thread and does with it what an app would: looks at all of it, approves what it asks, goes on. Whatever
 * it does, only a `HoldpointError` may come out, a refusal writes nothing, and what runs was approved as it is.
 */
export async function tryDamaged({ store, threadId, sound, open }: Opening): Promise<Trial> {
  const effects: Effect[] = [];
  let appends = 0;
  let revision = sound.length;
  const counting: ThreadStore = {
    ...store,
    async append(id, expected, entries, summary, ...beside) {
      await store.append(id, expected, entries, summary, ...beside);
      appends += 1;
      revision = entries.at(-1)?.revision ?? revision;
    },
  };
  const agent = agentOf(counting, async () => revision, effects);
  const faults: string[] = [];
  const told =
    (doing: string) =>
    (error: unknown): void => {
      if (!HoldpointError.isInstance(error)) faults.push(`${doing}, it threw ${firstLine(error)}`);
    };
  const thread = await open(agent).catch(told('Opened'));
  if (thread === undefined) {
    if (appends > 0) faults.push('It was refused and written.');
    return { outcome: 'refused', faults: [...faults, ...pollution()] };
  }
  try {
    lookAtAll(thread);
  } catch (error) {
    told('Looked at')(error);
  }
  try {
    for (let round = 0; round < 3; round += 1) await goOn(agent, thread);
  } catch (error) {
    told('Run')(error);
  }
  faults.push(...strangeEffects(effects, sound, await eventsIn(store, threadId).catch(() => [])));
  return { outcome: 'opened', faults: [...faults, ...pollution()] };
}

function agentOf(store: ThreadStore, revision: () => Promise<number>, effects: Effect[]): Agent {
  let ids = 0;
  const recording = (toolName: string) =>
    notingTool(toolName, revision, (effect) => effects.push(effect));
  return createAgent({
    model: statelessModel([], async (_prompt, answer) => answer()),
    tools: { book: recording('book'), look: recording('look') },
    toolApproval: { book: 'user-approval' },
    store,
    maxRetries: 0,
    /* A damaged message may hold any URL; none is ever fetched. */
    experimental_download: async (requested) => requested.map(() => null),
    now: () => 1_795_000_100_000,
    generateId: () => `fresh-${String((ids += 1)).padStart(16, '0')}`,
  });
}

function lookAtAll(thread: AgentThread): void {
  const { id, revision, status, messages, activeRequests, calls, events } = thread;
  JSON.stringify({ id, revision, status, messages, activeRequests, calls, events });
  JSON.stringify(thread);
}

async function goOn(agent: Agent, thread: AgentThread): Promise<void> {
  const answers = thread.activeApprovalRequests.map((request) => request.approve());
  await agent.run(answers, thread);
}

/** What ran that nobody approved as it ran: every approval is of a request asked just now, or one left undamaged. */
function strangeEffects(
  effects: readonly Effect[],
  sound: readonly ThreadEvent[],
  events: readonly ThreadEvent[],
): string[] {
  const before = callHistories(sound);
  const calls = callHistories(events);
  const strange = effects.filter((effect) => {
    const { toolName, toolCallId, input } = effect;
    const call = callOf(effect, calls);
    const requestId = call?.requestIds.at(-1) ?? '';
    if (toolName !== 'book' || requestId.startsWith('fresh-')) return false;
    const shown = before.find((other) => other.requestIds.includes(requestId));
    const asked = isDeepStrictEqual(requestOf(sound, requestId), requestOf(events, requestId));
    const same = shown?.toolCallId === toolCallId && isDeepStrictEqual(shown.input, input);
    return !asked || !same;
  });
  return [
    ...strange.map(({ input }) => `It ran book(${JSON.stringify(input)}) as nobody approved it.`),
    ...audit({ events, effects, prompts: [], gated: new Set(['book']) }).filter((fault) =>
      /effects|ran /.test(fault),
    ),
  ];
}

function requestOf(events: readonly ThreadEvent[], requestId: string): unknown {
  return events
    .filter((event) => event.type === 'request-opened')
    .filter(({ request }) => request.requestId === requestId)
    .map(({ request, place }) => ({ request: { ...request, toolCall: undefined }, place }));
}

function firstLine(error: unknown): string {
  return String(error instanceof Error ? `${error.name}: ${error.message}` : error)
    .split('\n', 1)
    .join('')
    .slice(0, 150);
}

const prototypeKeys = Reflect.ownKeys(Object.prototype).length;

function pollution(): string[] {
  const clean =
    Reflect.get({}, 'polluted') === undefined &&
    Reflect.ownKeys(Object.prototype).length === prototypeKeys;
  return clean ? [] : ['It changed the prototype of every object.'];
}
