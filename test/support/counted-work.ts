import { Session } from 'node:inspector/promises';
import { setFlagsFromString } from 'node:v8';

/* Optimized code counts only some of its calls. */
setFlagsFromString('--no-opt');
setFlagsFromString('--no-maglev');

/** How often each block of our code runs during some work, by its place: a measure that no machine changes. */
async function countBlocks(work: () => Promise<unknown>): Promise<Map<string, number>> {
  const session = new Session();
  session.connect();
  try {
    await session.post('Profiler.enable');
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true });
    await session.post('Profiler.takePreciseCoverage');
    await work();
    const { result } = await session.post('Profiler.takePreciseCoverage');
    const counts = new Map<string, number>();
    for (const { url, functions } of result) {
      if (!/\/src\/(?!.*node_modules)/.test(url)) continue;
      for (const { functionName, ranges } of functions) {
        for (const { startOffset, count } of ranges) {
          const place = `${functionName} at ${startOffset} of ${url}`;
          counts.set(place, Math.max(count, counts.get(place) ?? 0));
        }
      }
    }
    return counts;
  } finally {
    session.disconnect();
  }
}

/**
 * The blocks whose runs grow with the square of the work: for four times as much, more than eight times as often. `make` prepares work of a
 * size, which is not counted.
 */
export async function findSteepBlocks(
  make: (size: number) => Promise<() => Promise<unknown>>,
): Promise<string[]> {
  const size = 50;
  const few = await countBlocks(await make(size));
  const many = await countBlocks(await make(4 * size));
  return [...many].flatMap(([place, count]) => {
    const before = few.get(place) ?? 0;
    const isSteep = count > 4 * size * size && count > 8 * before;
    return isSteep ? [`${before}, then ${count}: ${place}`] : [];
  });
}
