import type { TimeoutConfiguration, ToolSet } from 'ai';
import { checkedMs } from '../../content/checked-number.ts';

/** The signal that ends a run early: for the app's own signal, a person's stop, or a time limit. */
export class RunSignal {
  /** Aborts when any of them does, with its reason. */
  readonly signal: AbortSignal;
  readonly #appSignal: AbortSignal | undefined;
  readonly #limits: TimeLimits;
  readonly #own = new AbortController();
  #run: RunningLimit | undefined;
  #step: RunningLimit | undefined;
  #stopReason: unknown;

  constructor(appSignal: AbortSignal | undefined, limits: TimeLimits) {
    this.#appSignal = appSignal;
    this.#limits = limits;
    const own = this.#own.signal;
    this.signal = appSignal === undefined ? own : AbortSignal.any([appSignal, own]);
  }

  /** Starts the run's time limit. */
  beginRun(): void {
    this.#run = this.#started(this.#limits.run, 'The run');
  }

  /** Starts a step's time limit, which covers the model and the tools it calls. */
  beginStep(): void {
    this.#step?.end();
    this.#step = this.#started(this.#limits.step, 'The step');
  }

  /** Clears all time limits. */
  end(): void {
    this.#run?.end();
    this.#step?.end();
  }

  /** Aborts because a person stopped the run. */
  stop(): void {
    if (this.signal.aborted) return;
    this.#stopReason = new DOMException('The run was stopped.', 'AbortError');
    this.#own.abort(this.#stopReason);
  }

  /** Whether this error is the app's abort. */
  isAbort(error: unknown): boolean {
    return this.#appSignal?.aborted === true && error === this.#appSignal.reason;
  }

  /** Whether this error is a person's stop. */
  isStop(error: unknown): boolean {
    return this.#stopReason !== undefined && error === this.#stopReason;
  }

  #started(limit: number | undefined, what: string): RunningLimit | undefined {
    if (limit === undefined) return undefined;
    const running = startLimit(limit, what);
    const { signal } = running;
    signal.addEventListener('abort', () => this.#own.abort(signal.reason), { once: true });
    return running;
  }
}

/** The AI SDK's `timeout`, checked: how long a run, a step and a tool may take, in milliseconds. */
export interface TimeLimits {
  run: number | undefined;
  step: number | undefined;
  /** The limit of a tool's calls. */
  tool: (toolName: string) => number | undefined;
}

/** Throws a `TypeError` for a limit that no timer can keep, and for an unknown tool. */
export function checkedTimeout(
  timeout: TimeoutConfiguration<ToolSet> | undefined,
  tools: ToolSet,
): TimeLimits {
  const given = typeof timeout === 'number' ? { totalMs: timeout } : (timeout ?? {});
  const ofTools = new Map(
    Object.entries(given.tools ?? {}).map(([name, limit]) => [
      toolOf(name, tools),
      checked(limit, `timeout.tools.${name}`),
    ]),
  );
  const anyTool = checked(given.toolMs, 'timeout.toolMs');
  return {
    run: checked(given.totalMs, 'timeout'),
    step: checked(given.stepMs, 'timeout.stepMs'),
    tool: (toolName) => ofTools.get(toolName) ?? anyTool,
  };
}

function checked(limit: number | undefined, what: string): number | undefined {
  return limit === undefined ? undefined : checkedMs(limit, what);
}

function toolOf(name: string, tools: ToolSet): string {
  const toolName = name.replace(/Ms$/, '');
  if (name.endsWith('Ms') && Object.hasOwn(tools, toolName)) return toolName;
  throw new TypeError(
    `timeout.tools has '${name}'; it must be the name of a tool of this agent, followed by 'Ms'.`,
  );
}

/** A running time limit. */
export interface RunningLimit {
  /** Aborts with a `TimeoutError` when the limit is reached. */
  signal: AbortSignal;
  end: () => void;
}

/** Starts a time limit. `onIgnored` is called `graceMs` after it was reached, unless it has been ended before. */
export function startLimit(
  milliseconds: number,
  what: string,
  { graceMs = 0, onIgnored }: { graceMs?: number; onIgnored?: () => void } = {},
): RunningLimit {
  const controller = new AbortController();
  let timer = setTimeout(() => {
    const message = `${what} did not end within ${milliseconds} ms.`;
    controller.abort(new DOMException(message, 'TimeoutError'));
    if (onIgnored !== undefined) timer = setTimeout(onIgnored, graceMs);
  }, milliseconds);
  return { signal: controller.signal, end: () => clearTimeout(timer) };
}
