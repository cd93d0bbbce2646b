import { untilAborted } from '../../content/until-aborted.ts';
import type { TerminalInput } from './terminal-options.ts';

/* When all is over that an input is used for. */
const uses = new WeakMap<TerminalInput, Promise<unknown>>();

/** Asks when nobody else asks at this input: one key would answer both, and only one of them was read. */
export async function inTurn<RESULT>(
  { input, signal }: { input: TerminalInput; signal: AbortSignal | undefined },
  ask: () => Promise<RESULT>,
): Promise<RESULT> {
  const before = uses.get(input);
  const use = Promise.withResolvers<void>();
  const all = Promise.all([before, use.promise]);
  uses.set(input, all);
  try {
    if (before !== undefined) await untilAborted(before, signal);
    return await ask();
  } finally {
    use.resolve();
    if (uses.get(input) === all) uses.delete(input);
  }
}
