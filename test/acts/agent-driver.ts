import { type Agent, type AgentThread, approve, HoldpointError, reject } from 'holdpoint';
import { type ActType, type Do, type Driver, type Person, principalOf } from './acts.ts';
import {
  callOf,
  openScene,
  questionOf,
  remember,
  requestOf,
  threadOf,
  type World,
} from './scenes.ts';

/** The channel that the app's own code names. */
const channel = 'desk';

/** What an app passes with an act. */
export function byOf(person: Person): { principal: unknown; channel: string } {
  return { principal: principalOf(person), channel };
}

/** The code with which an act is refused; `undefined` if it is not. */
export async function codeOf(work: () => Promise<unknown>): Promise<string | undefined> {
  try {
    await work();
    return undefined;
  } catch (error) {
    if (HoldpointError.isInstance(error)) return error.code;
    throw error;
  }
}

interface Acting {
  agent: Agent;
  thread: AgentThread;
  world: World;
  by: { principal: unknown; channel: string };
}

/** An act by the methods of an agent. */
function way(act: (acting: Acting) => Promise<unknown>): Do {
  return async (world, person) =>
    codeOf(async () =>
      act({
        agent: world.agent,
        thread: await threadOf(world),
        world,
        by: byOf(person),
      }),
    );
}

/** The id of the request that was decided last. */
function findDecided({ decisions }: AgentThread): string {
  const decided = decisions.at(-1);
  if (decided === undefined) throw new Error('Nothing is decided.');
  return decided.request.requestId;
}

/** The answer that picks the first option of a question. */
export async function pickFirst(world: World) {
  const { requestId, fields } = await questionOf(world);
  const [field] = fields;
  const [option] = field?.options ?? [];
  const answers = [{ key: field?.key ?? '', optionIds: [option?.id ?? ''] }];
  return { type: 'question-response', requestId, status: 'answered', answers } as const;
}

/** All acts, as methods of an agent. */
export const agentWays: Record<ActType, Do> = {
  approve: way(async ({ agent, thread, world, by }) =>
    agent.respond(approve(await requestOf(world)), thread, by),
  ),
  reject: way(async ({ agent, thread, world, by }) =>
    agent.respond(reject(await requestOf(world), 'Too dear.'), thread, by),
  ),
  'answer-question': way(async ({ agent, thread, world, by }) =>
    agent.respond(await pickFirst(world), thread, by),
  ),
  withdraw: way(async ({ agent, thread, world, by }) =>
    agent.withdraw(thread, (await requestOf(world)).requestId, by),
  ),
  reassign: way(async ({ agent, thread, world, by }) =>
    agent.reassign(thread, (await requestOf(world)).requestId, 'dora', by),
  ),
  remember: way(async ({ agent, thread, by }) =>
    agent.remember(thread, findDecided(thread), remember, by),
  ),
  send: way(async ({ agent, thread, by }) =>
    agent.run('Never mind.', thread, { ...by, whilePending: 'cancel' }),
  ),
  retract: way(async ({ agent, thread, by }) => agent.retract(thread, undefined, by)),
  settle: way(async ({ agent, thread, world, by }) =>
    agent.settle(thread, await callOf(world), { status: 'failed', error: 'Not paid.' }, by),
  ),
  deliver: way(async ({ agent, thread, world, by }) =>
    agent.deliver(thread, await callOf(world), { status: 'succeeded', output: 'Sent.' }, by),
  ),
  stop: way(async ({ agent, thread, by }) => agent.stop(thread, by)),
  cancel: way(async ({ agent, thread, by }) => agent.cancel(thread, 'Enough.', by)),
  resume: way(async ({ agent, thread, by }) =>
    agent.run([], thread, { ...by, resumeStopped: true }),
  ),
  revoke: way(async ({ agent, thread, by }) => {
    const [grant] = await agent.grants(thread);
    if (grant === undefined) throw new Error('Nothing is remembered.');
    return agent.revoke(grant, by);
  }),
};

export const agentDriver: Driver = { channel, open: openScene, ways: agentWays };

/** The same act in the thread of the sub-agent. */
function below(act: ActType): Do {
  return async ({ below: child, ...world }, by) => {
    if (child === undefined) throw new Error('Nobody works for the agent.');
    return agentWays[act]({ ...world, ...child }, by);
  };
}

const { retract: _retract, revoke: _revoke, ...waysAbove } = agentWays;

/** The same acts where the work is done by another agent, whose calls are settled and delivered in its own thread. */
export const subAgentDriver: Driver = {
  channel,
  open: async (scene) => openScene(scene, { isBelow: true }),
  ways: {
    ...waysAbove,
    remember: way(async ({ agent, thread, world, by }) =>
      agent.respond(approve(await requestOf(world), { remember }), thread, by),
    ),
    settle: below('settle'),
    deliver: below('deliver'),
  },
  force: async (act, world, by) => {
    if (act !== 'revoke') return agentWays[act](world, by);
    const [grant] = (await world.below?.agent.grants()) ?? [];
    if (grant === undefined) throw new Error('Nothing is remembered.');
    return codeOf(async () => world.agent.revoke(grant, byOf(by)));
  },
};
