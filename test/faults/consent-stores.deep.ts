import { expect, test } from 'vitest';
import { everyStore } from '../support/every-store.ts';
import { playHistories } from './consent-property.ts';

const numRuns = Number(process.env['HOLDPOINT_TIMES'] ?? 10) * 10;
/* Many more histories are played in memory. To connect again for each move would take most of the time. */
const served = everyStore({ idleTimeoutMillis: 300 }).filter(({ name }) => name !== 'memoryStore');

test.each(served)('nothing starts but what enough people said yes to: $name', async ({ start }) => {
  await playHistories(numRuns, start);
});

test('SQLite and Postgres are among the stores', () => {
  expect(served.map(({ name }) => name)).toEqual(['sqliteStore', 'postgresStore']);
});
