import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { threadEventSchema } from 'holdpoint/schemas';
import { expect, test } from 'vitest';
import { actTerms } from '../../src/content/act.ts';

const root = join(import.meta.dirname, '..', '..');

const who = {
  approver: 'who may approve the request',
  rejecter: 'who may reject what it ends',
  self: 'who gave the answer',
  anybody: 'whoever may use the thread',
};

const cellsOf = (line: string): string[] => line.split('|').map((cell) => cell.trim());

test('the guide says of each act what the code says', () => {
  const guide = readFileSync(join(root, 'docs/concepts.md'), 'utf8').split('\n').map(cellsOf);
  for (const [type, { who: whoMay, ends, events }] of Object.entries(actTerms)) {
    const recorded = events.map((event) => `\`${event}\``).join(', ');
    expect(guide).toContainEqual(['', `\`${type}\``, who[whoMay], ends, recorded, '']);
  }
});

test('what records an act is an event of the log', () => {
  const types: string[] = threadEventSchema.options.map(({ shape }) => shape.type.value);
  for (const { events } of Object.values(actTerms))
    for (const event of events) expect(types).toContain(event);
});

/* The second one hands on what the app says, and refuses where it throws. */
test('the app is asked in one place who may answer', () => {
  const asking = globSync('**/*.ts', { cwd: join(root, 'src') }).filter((file) =>
    /(?<![.#\w])mayAnswer\(asked/.test(readFileSync(join(root, 'src', file), 'utf8')),
  );
  expect(asking.toSorted()).toEqual([
    'agent/acts/request-rights.ts',
    'agent/input/call-may-answer.ts',
  ]);
});
