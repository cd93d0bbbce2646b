import { readPages } from '../content/read-pages.ts';
import { callGuarded } from '../content/app-errors.ts';
import type { ToolCallRecord } from '../content/tool-call.ts';
import type { AgentThread } from '../thread/agent-thread.ts';
import type { ThreadStore, ThreadSummary } from '../thread/thread-store.ts';

/** A thread, and its calls whose outcome is unknown. */
export interface Lost {
  /** The id of the thread. */
  threadId: string;
  /** The calls that were not reported before. */
  calls: readonly ToolCallRecord[];
}

interface LostCallsOptions {
  agent: { readonly name: string | undefined; thread(threadId: string): Promise<AgentThread> };
  store: Pick<ThreadStore, 'list'>;
  signal: AbortSignal;
  onIndeterminate?: (lost: Lost) => unknown;
  onError?: (error: unknown, threadId?: string) => unknown;
}

/** The lost calls of a thread that a worker has reported. */
interface Reported {
  /** The revision up to which it is known. */
  revision: number;
  calls: ReadonlySet<string>;
}

const pageSize = 100;

/** Reports lost calls of the agent's threads to one worker: each once, whichever process has recorded it. */
export class LostCalls {
  readonly #options: LostCallsOptions;
  readonly #reported = new Map<string, Reported>();
  #finding: Promise<void> | undefined;

  constructor(options: LostCallsOptions) {
    this.#options = options;
  }

  /** Reports the lost calls of a thread that were not reported. */
  async report(thread: AgentThread): Promise<void> {
    await this.#report(thread, () => true);
  }

  async #report(
    { id: threadId, calls, revision }: AgentThread,
    isReportable: (call: ToolCallRecord) => boolean,
  ): Promise<void> {
    const { calls: before } = this.#reported.get(threadId) ?? {};
    const isKnown = (call: ToolCallRecord): boolean => before?.has(makeKey(call)) === true;
    const lost = calls.filter(({ status }) => status === 'indeterminate');
    const told = lost.filter((call) => isKnown(call) || isReportable(call));
    if (lost.length === 0) this.#reported.delete(threadId);
    else this.#reported.set(threadId, { revision, calls: new Set(told.map(makeKey)) });
    const added = told.filter((call) => !isKnown(call));
    if (added.length > 0)
      await callGuarded(this.#options.onIndeterminate, { threadId, calls: added });
  }

  /** Searches for lost calls that other processes have recorded, unless a search is in progress, and reports them. */
  find(): void {
    if (this.#options.onIndeterminate === undefined) return;
    this.#finding ??= this.#findAll().finally(() => (this.#finding = undefined));
  }

  /** Resolves when no search is in progress. */
  async end(): Promise<void> {
    await this.#finding;
  }

  async #findAll(): Promise<void> {
    const { agent, store, signal, onError } = this.#options;
    const settled = new Set(this.#reported.keys());
    const query = { status: 'indeterminate', agent: agent.name ?? null, limit: pageSize } as const;
    const readPage = async (after?: ThreadSummary) => store.list({ ...query, after });
    try {
      for await (const page of readPages(readPage, pageSize)) {
        for (const summary of page) {
          if (signal.aborted) return;
          settled.delete(summary.threadId);
          await this.#open(summary);
        }
      }
      for (const threadId of settled) this.#reported.delete(threadId);
    } catch (error) {
      void callGuarded(onError, error);
    }
  }

  async #open({ threadId, revision }: ThreadSummary): Promise<void> {
    const { agent, onError } = this.#options;
    if (this.#reported.get(threadId)?.revision === revision) return;
    try {
      /* At `recoverAt` a tool is asked about its call, or starts it again: a worker reports the result. */
      await this.#report(await agent.thread(threadId), ({ recoverAt }) => recoverAt === undefined);
    } catch (error) {
      void callGuarded((each: unknown) => onError?.(each, threadId), error);
    }
  }
}

/* A call that is started again may be lost again. */
function makeKey({ step, index, attempts }: ToolCallRecord): string {
  return `${step}/${index}/${attempts}`;
}
