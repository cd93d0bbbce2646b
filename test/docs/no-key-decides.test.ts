import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { pagesAt } from './markdown-page.ts';

const root = join(import.meta.dirname, '..', '..');

/** The markup that readers copy, the code blocks of the docs and the pages of the examples, and that of the inbox. */
const markup = [
  ...pagesAt('README.md', 'docs/**/*.md').flatMap(({ path, text }) =>
    [...text.matchAll(/```\w*\n(.*?)```/gs)].map(([, code = '']) => ({ path, code })),
  ),
  ...globSync(['examples/**/*.{tsx,html}', 'src/apps/inbox/page/*.tsx'], { cwd: root }).map(
    (path) => ({
      path,
      code: readFileSync(join(root, path), 'utf8'),
    }),
  ),
];

/** The buttons of a page: their attributes, and the text they begin with. */
const buttons = markup.flatMap(({ path, code }) =>
  [...code.matchAll(/<button\b((?:=>|[^>])*)>\s*([^<{]*)/g)].map(
    ([, attributes = '', text = '']) => ({ path, attributes, text: text.trim() }),
  ),
);

test('a button submits a form only where its type says so, and then it sends a message', () => {
  expect(buttons.length).toBeGreaterThan(10);
  const untyped = buttons.filter(({ attributes }) => !/type="(?:button|submit)"/.test(attributes));
  expect(untyped).toEqual([]);
  const submits = buttons.filter(({ attributes }) => attributes.includes('type="submit"'));
  expect(submits.map(({ path, text }) => `${path}: ${text}`)).toEqual([
    'docs/channels/page.md: Send',
    'examples/two-people/page/App.tsx: Send',
    'examples/inbox/page/office-chat.tsx: Send',
  ]);
});

test('no other element submits one, and no button has the focus from the beginning', () => {
  const faults = markup.filter(({ code }) =>
    /formAction|<input[^>]*type="(?:submit|image)"|requestSubmit|\.submit\(/i.test(code),
  );
  expect(faults.map(({ path }) => path)).toEqual([]);
  expect(buttons.filter(({ attributes }) => /autoFocus/i.test(attributes))).toEqual([]);
});
