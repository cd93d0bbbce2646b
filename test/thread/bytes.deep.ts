import { expect, test } from 'vitest';
import { sendAndOpen } from './send-and-open.ts';

/** The shortest time of three, in milliseconds. */
async function fastest(work: () => Promise<unknown>): Promise<number> {
  let shortest = Infinity;
  for (let round = 0; round < 3; round += 1) {
    const started = performance.now();
    await work();
    shortest = Math.min(shortest, performance.now() - started);
  }
  return shortest;
}

test('20 MB of bytes take at most six times as long as text that is as long as their base64', async () => {
  const data = Uint8Array.from({ length: 20_000_000 }, (_, index) => index * 31);
  const text = 'x'.repeat((data.length / 3) * 4);
  const ofText = await fastest(async () => sendAndOpen({ type: 'text', text }));
  const ofBytes = await fastest(async () =>
    sendAndOpen({ type: 'file', mediaType: 'image/png', data }),
  );
  expect(ofBytes).toBeLessThan(6 * ofText);
});
