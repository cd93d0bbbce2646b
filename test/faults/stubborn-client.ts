import type { Agent, AgentThread, UserInputResponseContent } from 'holdpoint';
import { type MortalWorld, threadId } from './mortal-world.ts';
import type { MortalProcess } from './mortal-process.ts';
import { answerTo, type Turn } from './scenario.ts';
import { StubbornCourier } from './stubborn-courier.ts';

/** What a conversation came to. `stuck`: the client repeated its requests until it gave up. */
export type ConversationEnd = 'completed' | 'indeterminate' | 'stuck';

interface Running {
  agent: Agent;
  process: MortalProcess;
}

const mostRequests = 20;

/**
 * A client that repeats its request after each crash, in a new process: the message if it never got into the thread, else
 * the same answers, else a plain `run([])`, until the thread is done or a call's outcome is unknown.
 */
export class StubbornClient {
  readonly #world: MortalWorld;
  readonly #courier: StubbornCourier;
  #running: Running | undefined;
  /** Answers that were sent and that nobody acknowledged. */
  #unacknowledged: UserInputResponseContent[] = [];
  readonly #refusals: unknown[] = [];

  constructor(world: MortalWorld) {
    this.#world = world;
    this.#courier = new StubbornCourier(world);
  }

  /** Rejections that no crash explains. */
  get refusals(): readonly unknown[] {
    return [...this.#refusals, ...this.#courier.refusals];
  }

  async converse(): Promise<ConversationEnd> {
    for (const turn of this.#world.scenario.turns) {
      const end = await this.#finish(turn);
      if (end !== 'completed') return end;
    }
    return 'completed';
  }

  async #finish(turn: Turn): Promise<ConversationEnd> {
    for (let request = 0; request < mostRequests; request += 1) {
      await this.#courier.deliverAll();
      const status = await this.#tryAgain(turn);
      await this.#world.look();
      if (status === 'completed') return status;
      if (status === 'indeterminate' && !this.#isHopeful()) return status;
    }
    return 'stuck';
  }

  /** Whether a call of unknown outcome will be cleared up yet. */
  #isHopeful(): boolean {
    const { settles = false, processes = 1, isAlwaysCompleted = false } = this.#world.scenario;
    /* Where processes work at once, one may find a call in doubt that the other is still at. */
    const isOvertaken = processes > 1 && isAlwaysCompleted;
    return settles || isOvertaken || this.#courier.isOwing;
  }

  async #tryAgain(turn: Turn): Promise<string> {
    const running = (this.#running ??= this.#world.start());
    try {
      const status = await running.process.survives(this.#request(running, turn));
      if (status === 'running') this.#world.outwaitLease();
      return status;
    } catch (error) {
      if (!running.process.isDead) this.#refusals.push(error);
      this.#running = undefined;
      this.#world.outwaitLease();
      return 'crashed';
    }
  }

  async #request(running: Running, turn: Turn): Promise<string> {
    const thread = await running.agent.thread(threadId);
    if (!isRecorded(thread, turn)) return (await running.agent.run(turn.message, thread)).status;
    if (thread.status === 'indeterminate' && this.#world.scenario.settles === true) {
      return this.#settle(running, thread);
    }
    await this.#courier.takeOn(thread);
    const answers = this.#answersFor(thread);
    if (answers.length === 0) return (await running.agent.run([], thread)).status;
    this.#unacknowledged = answers;
    const status = await this.#send(answers, running, thread);
    /* A reply that came to a dead process was never heard. */
    if (!running.process.isDead) this.#noteAcknowledged(answers);
    return status;
  }

  /** What a careful person does: a look at what happened outside, then a word on it. */
  async #settle({ agent }: Running, thread: AgentThread): Promise<string> {
    const call = thread.calls.find(({ status }) => status === 'indeterminate');
    if (call === undefined) throw new Error('The thread is indeterminate, and none of its calls.');
    const { toolCallId } = call;
    const happened = this.#world.effects.some((effect) => effect.toolCallId === toolCallId);
    const outcome = happened
      ? ({ status: 'succeeded', output: 'It happened.' } as const)
      : ({ status: 'retry' } as const);
    await agent.settle(thread, toolCallId, outcome);
    return 'settled';
  }

  #answersFor(thread: AgentThread): UserInputResponseContent[] {
    if (this.#unacknowledged.length > 0) return this.#unacknowledged;
    const { scenario } = this.#world;
    const answers = thread.activeRequests.map((request) => answerTo(scenario, request));
    return scenario.oneByOne === true ? answers.slice(0, 1) : answers;
  }

  async #send(
    answers: UserInputResponseContent[],
    { agent }: Running,
    thread: AgentThread,
  ): Promise<string> {
    const { responds = false, processes = 1 } = this.#world.scenario;
    if (responds) {
      await agent.respond(answers, thread);
      return 'answered';
    }
    const others = Array.from({ length: processes - 1 }, () => this.#sendElsewhere(answers));
    const { status } = await agent.run(answers, thread);
    await Promise.all(others);
    return status;
  }

  /** The same answers through another process, whose death is no one's but its own. */
  async #sendElsewhere(answers: UserInputResponseContent[]): Promise<void> {
    const { agent, process } = this.#world.start();
    const send = async (): Promise<void> => {
      await agent.run(answers, await agent.thread(threadId));
    };
    await process.survives(send()).catch((error: unknown) => {
      if (!process.isDead) this.#refusals.push(error);
    });
  }

  #noteAcknowledged(answers: readonly UserInputResponseContent[]): void {
    const approvals = answers.filter((answer) => answer.type === 'approval-response');
    this.#world.acknowledged.push(...approvals);
    this.#unacknowledged = [];
  }
}

function isRecorded(thread: AgentThread, { message }: Turn): boolean {
  return thread.messages.some(({ role, content }) => role === 'user' && content === message);
}
