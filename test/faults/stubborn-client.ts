import type { Agent, AgentThread, UserInputResponseContent } from 'holdpoint';
import { type MortalWorld, ProviderDown, threadId } from './mortal-world.ts';
import type { MortalProcess } from './mortal-process.ts';
import { answerTo, type Turn } from './scenario.ts';
import { StubbornCourier } from './stubborn-courier.ts';
import { StubbornOthers } from './stubborn-others.ts';

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
  readonly #others: StubbornOthers;
  #running: Running | undefined;
  /** Answers that were sent and that nobody acknowledged. */
  #unacknowledged: UserInputResponseContent[] = [];
  readonly #refusals: unknown[] = [];
  readonly #faults: string[] = [];

  constructor(world: MortalWorld) {
    this.#world = world;
    this.#courier = new StubbornCourier(world);
    this.#others = new StubbornOthers(world);
  }

  /** Rejections that no crash explains. */
  get refusals(): readonly unknown[] {
    return [...this.#refusals, ...this.#courier.refusals, ...this.#others.refusals];
  }

  /** What it, and those beside it, found broken. */
  get faults(): readonly string[] {
    return [...this.#faults, ...this.#others.faults];
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
      if (status === 'completed' || this.#isGivenUp(status, turn)) return 'completed';
      if (status === 'indeterminate' && !this.#isHopeful()) return status;
    }
    return 'stuck';
  }

  /** Whether nothing but the next message gets the thread going again. */
  #isGivenUp(status: string, turn: Turn): boolean {
    return status === 'stuck' && turn !== this.#world.scenario.turns.at(-1);
  }

  /** Whether a call of unknown outcome will be cleared up yet. */
  #isHopeful(): boolean {
    const { settles = false, processes = 1, isAlwaysCompleted = false } = this.#world.scenario;
    /* Where processes work at once, one may find a call in doubt that the other is still at. */
    const isOvertaken = processes > 1 && isAlwaysCompleted;
    return settles || isOvertaken || this.#courier.isOwing;
  }

  async #tryAgain(turn: Turn): Promise<string> {
    const { name } = this.#others;
    const running = (this.#running ??= this.#world.start({ name }));
    try {
      const status = await running.process.survives(this.#request(running, turn));
      if (status === 'running') this.#world.outwaitLease();
      return status;
    } catch (error) {
      if (!running.process.isDead && error instanceof ProviderDown) return 'failing';
      if (!running.process.isDead) this.#refusals.push(error);
      this.#running = undefined;
      this.#world.outwaitLease();
      if (await this.#others.comeBy()) this.#unacknowledged = [];
      return 'crashed';
    }
  }

  async #request(running: Running, turn: Turn): Promise<string> {
    const thread = await running.agent.thread(threadId);
    if (thread.agent !== this.#others.name) await running.agent.adopt(thread);
    if (!isRecorded(thread, turn)) return this.#say(running, thread, turn);
    if (thread.status === 'indeterminate' && this.#world.scenario.settles === true) {
      return this.#settle(running, thread);
    }
    await this.#courier.takeOn(thread);
    const answers = this.#answersFor(thread);
    await this.#others.tryAsOldOwner(answers);
    if (answers.length === 0) return this.#goOn(running, thread, turn);
    if (this.#others.takesOver(thread)) return this.#stepBack();
    this.#unacknowledged = answers;
    const status = await this.#send(answers, running, thread);
    /* A reply that came to a dead process was never heard. */
    if (!running.process.isDead) this.#noteAcknowledged(answers);
    return status;
  }

  async #say({ agent }: Running, thread: AgentThread, { message }: Turn): Promise<string> {
    const options = this.#world.scenario.hasIds === true ? { messageId: message } : {};
    return (await agent.run(message, thread, options)).status;
  }

  /** Another agent's process goes on. */
  #stepBack(): string {
    this.#running = undefined;
    return 'handed over';
  }

  /** What is done where nothing is to be said: the message again, or a run; where a scheduler sees to it, when it is time. */
  async #goOn(running: Running, thread: AgentThread, turn: Turn): Promise<string> {
    const { hasIds = false, fails } = this.#world.scenario;
    if (hasIds) return this.#say(running, thread, turn);
    const { nextDeadline, revision } = thread;
    if (fails === undefined || nextDeadline === undefined)
      return (await running.agent.run([], thread)).status;
    if (this.#world.time + 1_000 < nextDeadline) {
      const { status } = await running.agent.run([], thread, { onlyWhenDue: true });
      if (thread.revision > revision) this.#faults.push('A run that came too early did something.');
      if (status !== 'waiting' || thread.failure === undefined)
        this.#faults.push(`A run that came too early ended ${status}.`);
    }
    this.#world.waitUntil(nextDeadline);
    return (await running.agent.run([], thread, { onlyWhenDue: true })).status;
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
    const { agent, process } = this.#world.start({ name: this.#others.name });
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
