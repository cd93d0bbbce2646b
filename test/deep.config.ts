import { defineConfig } from 'vitest/config';
import shallow from './vitest.config.ts';

/* The slow ones: every pair of crashes, ten times as many interleavings, and what they find in a source that is broken. */
export default defineConfig({
  ...shallow,
  test: {
    include: [
      'test/faults/crash-points.test.ts',
      'test/faults/interleavings.test.ts',
      'test/faults/*.deep.ts',
    ],
    env: { HOLDPOINT_CRASH_STRIDE: '1', HOLDPOINT_TIMES: '10' },
    testTimeout: 1_800_000,
  },
});
