import type { TimeoutConfiguration, ToolSet } from 'ai';
import { checkMs } from '../../content/check-settings.ts';

/** The AI SDK's `timeout`, checked: the times that a run, a step and a tool may take, in milliseconds. */
export interface TimeLimits {
  run: number | undefined;
  step: number | undefined;
  /** The limit of a tool's calls; absent if no tool has one. */
  tool: ((toolName: string) => number | undefined) | undefined;
}

/** Throws a `TypeError` for a limit that no timer can keep, and for an unknown tool. */
export function checkTimeout(
  timeout: TimeoutConfiguration<ToolSet> | undefined,
  tools: ToolSet,
): TimeLimits {
  const given = typeof timeout === 'number' ? { totalMs: timeout } : (timeout ?? {});
  const ofTools = new Map(
    Object.entries(given.tools ?? {}).map(([name, limit]) => [
      parseToolName(name, tools),
      checkLimitMs(limit, `timeout.tools.${name}`),
    ]),
  );
  const anyTool = checkLimitMs(given.toolMs, 'timeout.toolMs');
  const isAnyLimited = anyTool !== undefined || ofTools.size > 0;
  return {
    run: checkLimitMs(given.totalMs, 'timeout'),
    step: checkLimitMs(given.stepMs, 'timeout.stepMs'),
    tool: isAnyLimited ? (toolName) => ofTools.get(toolName) ?? anyTool : undefined,
  };
}

function checkLimitMs(limit: number | undefined, what: string): number | undefined {
  return limit === undefined ? undefined : checkMs(limit, what);
}

function parseToolName(name: string, tools: ToolSet): string {
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

/** Starts a time limit that aborts `controller` when it is reached. */
export function abortAfter(limit: number, what: string, controller: AbortController): RunningLimit {
  const running = startLimit(limit, what);
  const { signal } = running;
  signal.addEventListener('abort', () => controller.abort(signal.reason), { once: true });
  return running;
}
