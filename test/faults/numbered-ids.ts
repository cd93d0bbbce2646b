import { vi } from 'vitest';

let made = 0;

/* Whose turn it is to claim a thread depends on the ids of workers: with random ones no schedule would be played again. */
vi.mock('../../src/content/crypto.ts', async (importOriginal) => ({
  ...(await importOriginal<typeof import('../../src/content/crypto.ts')>()),
  makeRandomId: () => `random-${(made += 1)}`,
}));

/** Counts the ids that are random elsewhere from a number on. */
export function countIdsFrom(number: number): void {
  made = number;
}
