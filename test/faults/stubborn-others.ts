import { type AgentThread, HoldpointError, type UserInputResponseContent } from 'holdpoint';
import { type MortalWorld, threadId } from './mortal-world.ts';

/** The agent that has the thread first, and the one that takes it over. */
const [first, second] = ['sales', 'bookings'] as const;

/** Who else is at the thread, beside the client: whoever comes by after a crash, and an agent of another name. */
export class StubbornOthers {
  readonly #world: MortalWorld;
  /** What they found broken. */
  readonly faults: string[] = [];
  /** Rejections that no crash explains. */
  readonly refusals: unknown[] = [];
  #hasDeleted = false;
  #name: string | undefined;

  constructor(world: MortalWorld) {
    this.#world = world;
    if (world.scenario.adopts !== undefined) this.#name = first;
  }

  /** The name of the agent that the client drives. */
  get name(): string | undefined {
    return this.#name;
  }

  /** Somebody comes by after a crash, when the lease is over. Whether the thread is gone then. */
  async comeBy(): Promise<boolean> {
    const { besides, adopts } = this.#world.scenario;
    if (adopts === 'after a crash') this.#name = second;
    if (besides === 'a bystander who opens the thread') await this.#open();
    return besides === 'somebody who deletes the thread, once' && this.#delete();
  }

  /** Whether the thread, which waits, is now for the other agent to drive. */
  takesOver({ agent }: AgentThread): boolean {
    if (this.#world.scenario.adopts !== 'while it waits' || agent !== first) return false;
    const isNews = this.#name === first;
    this.#name = second;
    return isNews;
  }

  /** What the old owner tries while the thread is another's already. Nothing of it may succeed, and it may die of it. */
  async tryAsOldOwner(answers: readonly UserInputResponseContent[]): Promise<void> {
    if (this.#name !== second) return;
    await this.#act(first, async (agent) => {
      const thread = await agent.thread(threadId);
      if (thread.agent !== second) return;
      for (const input of [answers, []]) {
        const code = await agent.run(input, thread).then(() => 'taken', codeOf);
        if (code !== 'wrong-agent') this.faults.push(`A run of the old owner ended ${code}.`);
      }
    });
  }

  /** A bystander does nothing but to open the thread: lost calls are in the log and in the list then. */
  async #open(): Promise<void> {
    const isDone = await this.#act(this.#name, async (agent) => {
      await agent.thread(threadId);
    });
    if (!isDone) return;
    const { status = 'idle' } = (await this.#world.head()) ?? {};
    const begun = new Set<string>();
    for (const event of await this.#world.events()) {
      if (event.type === 'call-started') begun.add(`${event.step}.${event.index}`);
      else if (event.type === 'call-lost' || event.type === 'call-ended')
        begun.delete(`${event.step}.${event.index}`);
      else if (event.type === 'call-deferred') begun.delete(`${event.step}.${event.index}`);
    }
    for (const place of begun) this.faults.push(`Call ${place} is lost, and its log is silent.`);
    if (status === 'running' && begun.size > 0) this.faults.push('A lost call is not in the list.');
  }

  /** Deletes the thread, in one process after the other until it is gone. */
  async #delete(): Promise<boolean> {
    while (!this.#hasDeleted) {
      const { length } = this.#world.deleted;
      await this.#act(this.#name, async (agent) => {
        const thread = await agent.thread(threadId);
        if (thread.revision === 0) this.#hasDeleted = true;
        else await agent.delete(thread);
        const code = await agent.run([], thread).then(({ status }) => status, codeOf);
        if (length < this.#world.deleted.length && code !== 'thread-deleted')
          this.faults.push(`A run of the deleted thread ended ${code}.`);
      });
      this.#hasDeleted ||= this.#world.deleted.length > length;
      this.#world.outwaitLease();
    }
    return this.#world.deleted.length > 0;
  }

  /** Does something in a process of its own, which may die of it. Whether it lived. */
  async #act(
    name: string | undefined,
    work: (agent: ReturnType<MortalWorld['start']>['agent']) => Promise<void>,
  ): Promise<boolean> {
    const { agent, process } = this.#world.start({ name });
    try {
      await process.survives(work(agent));
      return true;
    } catch (error) {
      if (!process.isDead) this.refusals.push(error);
      this.#world.outwaitLease();
      return false;
    }
  }
}

/** Why holdpoint refused; another error stays one, as that of a process that died. */
function codeOf(error: unknown): string {
  if (HoldpointError.isInstance(error)) return error.code;
  throw error;
}
