import {
  type Agent,
  makeAnsweringAgent,
  findDoor,
  type KnownPeople,
  type SeenRequest,
  type AnswerOptions,
} from '../../agent.ts';
import { findClock } from '../../thread/store-clock.ts';
import type { StoredRequest, ThreadStoreRequests } from '../../thread/thread-store-requests.ts';
import type { ThreadStore } from '../../thread/thread-store.ts';
import type { InboxHandlerOptions } from './inbox-handler-options.ts';

/** The agents of an inbox, which answer for the threads that belong to them by name, and their common store. */
export interface InboxAgents {
  readonly store: ThreadStore;
  readonly requests: ThreadStoreRequests;
  /** An agent that can identify principals. */
  readonly host: Agent;
  /** The name of the only agent, for which the store can select rows; absent for several. */
  readonly only?: string | null;
  /** True if threads can be run here. */
  readonly canRun: boolean;
  /** The agent of a row; `undefined` for a row of another agent. */
  find(name: string | null): Agent | undefined;
  /** The people whom the agent of a row knows. */
  findPeople(name: string | null): KnownPeople | undefined;
}

/**
 * Gathers the agents in the options, or makes agents that only record answers. Throws a `TypeError` for agents that can't share an inbox.
 */
export function gatherAgents(options: InboxHandlerOptions): InboxAgents {
  const { agents, store } = options;
  if ((agents === undefined) === (store === undefined)) {
    throw new TypeError('createInboxHandler needs either `agents`, or `store` and `mayAnswer`.');
  }
  if (agents !== undefined) return shareAgents(options, agents);
  return makeAnsweringAgents(options, requireStore(store));
}

function shareAgents(
  options: InboxHandlerOptions,
  agents: NonNullable<InboxHandlerOptions['agents']>,
): InboxAgents {
  for (const name of ['mayAnswer', 'principalId', 'now'] as const) {
    if (options[name] === undefined) continue;
    throw new TypeError(`createInboxHandler takes \`${name}\` with \`store\`; agents have theirs.`);
  }
  const [host, ...others] = agents;
  if (host === undefined) throw new TypeError('createInboxHandler needs at least one agent.');
  const store = requireStore(agents.every(findDoor) ? findDoor(host)?.store : undefined);
  const byName = new Map(agents.map((agent) => [agent.name ?? null, agent]));
  if (byName.size < agents.length) {
    throw new TypeError('Two agents of an inbox have the same name.');
  }
  if (others.some((agent) => findDoor(agent)?.store !== store)) {
    throw new TypeError('The agents of an inbox must share one store.');
  }
  return {
    ...describeAgents(store, host, (name) => byName.get(name)),
    ...(others.length === 0 ? { only: host.name ?? null } : {}),
    canRun: true,
  };
}

/** Makes an agent for each name in the rows, which records answers and runs nothing. */
function makeAnsweringAgents(options: InboxHandlerOptions, store: ThreadStore): InboxAgents {
  const { mayAnswer, principalId, now } = options;
  const shared = {
    store,
    ...(mayAnswer && { mayAnswer }),
    ...(principalId && { principalId }),
    ...(now && { now }),
  };
  const make = (name: string | null): Agent =>
    makeAnsweringAgent(name === null ? shared : { ...shared, name });
  const host = make(null);
  const byName = new Map<string | null, Agent>([[null, host]]);
  const find = (name: string | null): Agent => {
    const agent = byName.get(name) ?? make(name);
    byName.set(name, agent);
    return agent;
  };
  return { ...describeAgents(store, host, find), canRun: false };
}

function describeAgents(
  store: ThreadStore,
  host: Agent,
  find: InboxAgents['find'],
): Omit<InboxAgents, 'only' | 'canRun'> {
  const { requests } = store;
  if (requests === undefined) {
    throw new TypeError(
      'createInboxHandler needs a store that keeps requests: this one has no `requests`, or they are switched off.',
    );
  }
  const findPeople = (name: string | null): KnownPeople | undefined => {
    const agent = find(name);
    return agent && findDoor(agent)?.people;
  };
  return { store, requests, host, find, findPeople };
}

function requireStore(store: ThreadStore | undefined): ThreadStore {
  if (store !== undefined) return store;
  throw new TypeError(
    'createInboxHandler needs agents that createAgent made, not objects around them.',
  );
}

/** Reads the store's clock, if it has one and the last reading is old. */
export async function syncClock({ store }: InboxAgents): Promise<void> {
  await findClock(store).sync();
}

/** Returns rows as a person sees them, in their order; without those of agents that the inbox does not have. */
export async function seeInboxRows(
  agents: InboxAgents,
  rows: readonly StoredRequest[],
  by: AnswerOptions,
): Promise<SeenRequest[]> {
  const seen = new Map<string, SeenRequest>();
  const groups = Map.groupBy(rows, ({ agent }) => agent);
  for (const [name, own] of groups) {
    const agent = agents.find(name);
    const door = agent && findDoor(agent);
    if (door === undefined) continue;
    for (const each of await door.seeRequests(own, by)) seen.set(each.row.requestId, each);
  }
  return rows.flatMap(({ requestId }) => seen.get(requestId) ?? []);
}
