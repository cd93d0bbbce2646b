import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type Cell, chooseCell, putTable, readMeasured } from './clients-table.ts';

test('the guide has the table of what was measured', () => {
  const page = readFileSync(join(import.meta.dirname, '../../docs/guides/gate.md'), 'utf8');
  expect(putTable(page, readMeasured())).toBe(page);
});

const makeCell = (seconds: number, isPaid: boolean): Cell => ({
  text: `${seconds} s`,
  seconds,
  isPaid,
  version: '1',
  on: '2026-11-27',
});

test.each([
  ['a client that waited for longer before', makeCell(400, true), makeCell(70, true), 'old'],
  [
    'a client that gave up later than it waited now',
    makeCell(300, false),
    makeCell(70, true),
    'old',
  ],
  ['a client that waits for longer now', makeCell(60, false), makeCell(400, true), 'new'],
  ['a client that gives up earlier now', makeCell(400, true), makeCell(60, false), 'new'],
])('the table keeps the longest wait of %s', (_, old, next, chosen) => {
  expect(chooseCell(old, next)).toBe(chosen === 'old' ? old : next);
});
