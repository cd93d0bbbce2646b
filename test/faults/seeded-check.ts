import * as fc from 'fast-check';

/* Shrinking ends then, so that the seed is told before the test runner loses its patience. */
const limitMs = 150_000 * Number(process.env['HOLDPOINT_TIMES'] ?? 1);

/** Tries a property on many inputs: on the same ones again where HOLDPOINT_SEED says so, else on others each time. */
export async function tryOut<INPUT>(
  property: fc.IAsyncProperty<INPUT>,
  options: { numRuns: number; endOnFailure?: boolean },
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
  options: { numRuns: number },
): Promise<void> {
  const details = await tryOut(property, options);
  if (!details.failed) return;
  const again = `To see this again: HOLDPOINT_SEED=${details.seed} npx vitest run --config test/vitest.config.ts test/faults/interleavings.test.ts`;
  throw new Error(`${fc.defaultReportMessage(details) ?? ''}\n\n${again}`, {
    cause: details.errorInstance,
  });
}
