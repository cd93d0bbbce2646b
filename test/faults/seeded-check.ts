import * as fc from 'fast-check';
import { expect } from 'vitest';

/** How much to try. */
interface Trials {
  numRuns: number;
  endOnFailure?: boolean;
  /** Shrinking ends then, so that the seed is reported before the test times out; after 150 s by default. */
  limitMs?: number;
}

/** Tries a property on many inputs: on the same ones again where HOLDPOINT_SEED says so, else on others each time. */
export async function tryOut<INPUT>(
  property: fc.IAsyncProperty<INPUT>,
  { limitMs = 150_000, ...options }: Trials,
): Promise<fc.RunDetails<INPUT>> {
  const seed = process.env['HOLDPOINT_SEED'];
  return fc.check(property, {
    ...options,
    ...(seed === undefined ? {} : { seed: Number(seed) }),
    interruptAfterTimeLimit: limitMs,
    markInterruptAsFailure: true,
  });
}

/** Throws for a property that does not hold, and says how to see that again. */
export async function mustHold<INPUT>(
  property: fc.IAsyncProperty<INPUT>,
  trials: Trials,
): Promise<void> {
  const details = await tryOut(property, trials);
  if (!details.failed) return;
  const { testPath = '' } = expect.getState();
  const config = testPath.endsWith('.deep.ts') ? 'deep' : 'vitest';
  const again = `To see this again: HOLDPOINT_SEED=${details.seed} npx vitest run --config test/${config}.config.ts ${testPath}`;
  const report = `${fc.defaultReportMessage(details) ?? ''}\n\n${again}`;
  /* Printed at once: the reports of a long run may be cut off. */
  console.error(report);
  throw new Error(report, { cause: details.errorInstance });
}
