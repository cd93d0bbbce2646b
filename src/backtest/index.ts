import type { ToolSet } from 'ai';
import { checkLimit } from '../content/check-settings.ts';
import { readErrorText } from '../content/app-errors.ts';
import type { ThreadStore } from '../thread/thread-store.ts';
import { type BacktestLimits, type BacktestResult, makeBacktestResult } from './backtest-result.ts';
import { renderBacktest } from './backtest-text.ts';
import { type GivenThreads, readGivenThreads, readStoredThreads } from './recorded-threads.ts';
import {
  type BacktestRules,
  prepareCandidate,
  type ReplayedCall,
  replayThread,
} from './replay-thread.ts';
import { findBestStandingApproval } from './standing-approval.ts';

export type { BacktestResult } from './backtest-result.ts';

/** The options of `backtest`: the rules, and the threads to replay. */
type BacktestOptions<TOOLS extends ToolSet, RUNTIME_CONTEXT> = BacktestRules<
  TOOLS,
  RUNTIME_CONTEXT
> &
  BacktestLimits &
  (
    | {
        /** Handles of threads, or their JSON forms. */
        threads: GivenThreads;
        /** Only threads of the agent of this name. Default: all of `threads`. */
        agent?: string;
      }
    | {
        /** The store whose threads are replayed. */
        store: ThreadStore;
        /** The name of the agent whose threads are replayed. Default: agents without a name. */
        agent?: string;
      }
  );

/**
 * Replays rules over recorded threads: decides about each recorded call as an agent with these rules would have when the call was proposed,
 * and compares that with the log's decisions and people's answers. It runs no tool, calls no model and writes nothing. A thread that can't
 * be read is listed in `unreadable`. Throws a `TypeError` for tools and rules that `createAgent` would refuse.
 *
 * @example
 * const result = await backtest({ tools, toolApproval, store, agent: 'travel' });
 * console.log(String(result));
 */
export async function backtest<TOOLS extends ToolSet, RUNTIME_CONTEXT = Record<string, unknown>>(
  options: BacktestOptions<TOOLS, RUNTIME_CONTEXT>,
): Promise<BacktestResult> {
  const { tools, toolApproval, toolsContext = {}, agent, principalId } = options;
  const { runtimeContext = () => undefined } = options;
  const limits = checkLimits(options);
  const candidate = await prepareCandidate({
    tools,
    toolApproval,
    toolsContext,
    runtimeContext,
    principalId,
  });
  const calls: ReplayedCall[] = [];
  const unreadable: BacktestResult['unreadable'] = [];
  let threads = 0;
  const recorded =
    'store' in options
      ? readStoredThreads(options.store, agent ?? null)
      : readGivenThreads(options.threads);
  for await (const { name, read } of recorded) {
    try {
      const thread = await read();
      if (thread === undefined) continue;
      const replayed = await replayThread(candidate, thread);
      if (agent !== undefined && replayed.agent !== agent) continue;
      threads += 1;
      for (const call of replayed.calls) calls.push(call);
    } catch (error) {
      unreadable.push({ thread: name, error: readErrorText(error) });
    }
  }
  const standingApproval = findBestStandingApproval(calls, principalId);
  const result = makeBacktestResult({ threads, unreadable, calls, standingApproval, limits });
  /* Not enumerable: JSON and comparisons only have the data. */
  return Object.defineProperty(result, 'toString', { value: () => renderBacktest(result) });
}

function checkLimits({ maxRejected = 0, ...others }: BacktestLimits): Required<BacktestLimits> {
  const { maxEdited = Infinity, maxDenied = Infinity } = others;
  return {
    maxRejected: checkLimit(maxRejected, 'maxRejected'),
    maxEdited: checkLimit(maxEdited, 'maxEdited'),
    maxDenied: checkLimit(maxDenied, 'maxDenied'),
  };
}
