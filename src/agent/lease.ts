import type { NewThreadEvent } from '../thread/thread-event.ts';
import type { ThreadLog } from '../thread/thread-log.ts';
import type { ThreadState } from '../thread/thread-state.ts';
import type { AgentContext } from './agent-context.ts';

/** Another run took the thread over, as our lease had run out. */
export class LeaseLost extends Error {}

/** One run's hold on a thread: nobody else runs it until the lease is over, and it is renewed while the run lives. */
export class Lease {
  readonly #context: Pick<AgentContext, 'leaseMs' | 'now' | 'events'>;
  readonly #log: ThreadLog;
  readonly #runId: string;

  constructor(context: AgentContext, log: ThreadLog) {
    this.#context = context;
    this.#log = log;
    this.#runId = context.generateId();
  }

  /** The event that takes the thread. */
  started(): NewThreadEvent {
    return this.#event('run-started');
  }

  /** The event that gives the thread back; `error` says why when the run failed. */
  ended(error?: string): NewThreadEvent {
    return { type: 'run-ended', at: this.#context.now(), error };
  }

  /** Whether the thread is ours in this state. */
  holds(state: Readonly<ThreadState>): boolean {
    return state.head.run?.runId === this.#runId;
  }

  /** Renews until the returned function is called. `onNews` is told when others may have appended, too. */
  keep(onNews: () => void): () => void {
    const { leaseMs, events } = this.#context;
    const renew = async (): Promise<void> => {
      await this.#log.commit((proposal) => {
        if (this.holds(proposal.state)) proposal.add(this.#event('run-renewed'));
      });
      onNews();
    };
    /* A renewal that fails is tried again in time; two may fail before the lease is over. */
    const timer = setInterval(() => void renew().catch(() => {}), leaseMs / 3);
    const unsubscribe = events.on('request-answered', async ({ threadId }) => {
      if (threadId !== this.#log.state.threadId) return;
      await this.#log.pull();
      onNews();
    });
    return () => {
      clearInterval(timer);
      unsubscribe();
    };
  }

  /** Gives the thread back after a failure. */
  async letGo(error: string): Promise<void> {
    try {
      await this.#log.commit((proposal) => {
        if (this.holds(proposal.state)) proposal.add(this.ended(error));
      });
    } catch {
      /* The store is out of reach, and the run fails for its own reason; the lease runs out by itself. */
    }
  }

  #event(type: 'run-started' | 'run-renewed'): NewThreadEvent {
    const at = this.#context.now();
    return { type, at, runId: this.#runId, leaseUntil: at + this.#context.leaseMs };
  }
}
