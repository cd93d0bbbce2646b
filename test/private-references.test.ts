import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..');

/** What a reader of the package can look up nowhere: papers and issues that only its makers have. `#12` is one of the repository. */
const privateReferences = [
  /\b[SOZ]\d+-\d+\b/,
  /\bseeds? 0\d\d\b/i,
  /\bthe seed\b/i,
  /\bdesign, (?:part|rule)\b/i,
  /\bchecklist [A-Z]\b/,
  /\bissues? \d+\b/i,
  /\/work\//,
];

const published = [
  ...globSync('*.md', { cwd: root }),
  ...globSync('{src,docs,examples,adr,.github}/**/*.{ts,tsx,md,css,html,txt,yml}', { cwd: root }),
];

test('what people get refers to nothing that they do not have', () => {
  const offenders = published.flatMap((file) =>
    readFileSync(join(root, file), 'utf8')
      .split('\n')
      .flatMap((line, index) =>
        privateReferences.some((reference) => reference.test(line))
          ? [`${file}:${index + 1}: ${line.trim()}`]
          : [],
      ),
  );
  expect(offenders).toEqual([]);
});
