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

/** The files of the source in which something is called. */
function listCallers(call: RegExp): string[] {
  const files = globSync('**/*.ts', { cwd: join(root, 'src') });
  return files
    .filter((file) => call.test(readFileSync(join(root, 'src', file), 'utf8')))
    .toSorted();
}

/* The second one of `mayAnswer` hands on what the app says, and refuses where it throws. */
test.each([
  [
    'who may answer',
    /(?<![.#\w])mayAnswer\(asked/,
    ['agent/acts/request-rights.ts', 'agent/input/right-to-answer.ts'],
  ],
  ['who may settle', /\bmaySettle: ask\b/, ['apps/inbox/inbox-context.ts']],
  ['who somebody is', /(?<![.#\w])principalId\(/, ['policy/same-person.ts']],
])('the app is asked in one place %s', (_what, call, places) => {
  expect(listCallers(call)).toEqual(places);
});
