import type { Agent, AgentThread } from 'holdpoint';
import { outputOf } from './mortal-tools.ts';
import { type MortalWorld, threadId } from './mortal-world.ts';
import type { Job } from './tool-server.ts';

/** Does what was left to be done outside, and brings each result, in a process of its own, until somebody took it. */
export class StubbornCourier {
  readonly #world: MortalWorld;
  /** Rejections that no crash explains. */
  readonly refusals: unknown[] = [];

  constructor(world: MortalWorld) {
    this.#world = world;
    if (world.scenario.isEager === true) {
      world.server.onQueued = async (job) => this.#deliver(job);
    }
  }

  /** Whether there is a result that nobody took. */
  get isOwing(): boolean {
    return this.#owed().length > 0;
  }

  /** Takes on the calls of tools that only the client has. */
  async takeOn({ calls, revision }: AgentThread): Promise<void> {
    const { scenario, server } = this.#world;
    if (scenario.defers !== 'client') return;
    for (const { status, toolName, toolCallId, input } of calls) {
      const isKnown = server.jobs.some(({ request }) => request.toolCallId === toolCallId);
      if (status !== 'deferred' || isKnown) continue;
      await server.enqueue({ toolName, toolCallId, idempotencyKey: toolCallId, input, revision });
    }
  }

  async deliverAll(): Promise<void> {
    for (const job of this.#owed()) {
      const isReady = this.#world.scenario.asks !== true || job.told.length > 0;
      await (isReady ? this.#deliver(job) : this.#ask(job));
    }
  }

  #owed(): Job[] {
    return this.#world.server.jobs.filter(({ isDelivered }) => !isDelivered);
  }

  /** Asks a person for a job, until somebody took the question. */
  async #ask(job: Job): Promise<void> {
    if (job.isAsked) return;
    const { agent, process } = this.#world.start();
    try {
      await process.survives(ask(agent, job));
      job.isAsked = true;
    } catch (error) {
      if (!process.isDead) this.refusals.push(error);
    }
  }

  async #deliver(job: Job): Promise<void> {
    const world = this.#world;
    world.server.work(job, (await world.events()).length);
    const { agent, process } = world.start();
    try {
      await process.survives(bring(agent, job));
      job.isDelivered = true;
      world.delivered.push({ toolCallId: job.request.toolCallId, output: outputOf(job.request) });
    } catch (error) {
      if (!process.isDead) this.refusals.push(error);
    }
  }
}

async function ask(agent: Agent, { request: { toolCallId } }: Job): Promise<void> {
  const options = ['a', 'b'].map((id) => ({ id, label: id }));
  const question = {
    kind: 'choice' as const,
    text: 'Which class?',
    fields: [{ key: 'class', label: 'Class', options, min: 1, max: 1, freeText: 'never' as const }],
    allowDismiss: false,
  };
  await agent.requestAnswer(await agent.thread(threadId), toolCallId, question);
}

async function bring(agent: Agent, { request }: Job): Promise<void> {
  const { toolCallId } = request;
  const outcome = { status: 'succeeded', output: outputOf(request) } as const;
  await agent.deliver(await agent.thread(threadId), toolCallId, outcome);
}
