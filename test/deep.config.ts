import { defineConfig } from 'vitest/config';
import shallow from './vitest.config.ts';

/* The slow ones: every pair of crashes, and ten times as many interleavings. */
export default defineConfig({
  ...shallow,
  test: {
    include: ['test/faults/crash-points.test.ts', 'test/faults/interleavings.test.ts'],
    env: { HOLDPOINT_CRASH_STRIDE: '1', HOLDPOINT_TIMES: '10' },
    testTimeout: 1_800_000,
  },
});
