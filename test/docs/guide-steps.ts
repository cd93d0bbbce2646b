import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sqliteStore } from 'holdpoint/stores/sqlite';
import { afterEach } from 'vitest';
import { pagesAt } from './markdown-page.ts';

export const guide = 'docs/guides/migrating.md';

/** What a test has opened: closed after it, the newest first. */
export const opened: { close: () => unknown }[] = [];
afterEach(async () => {
  for (const each of opened.splice(0).toReversed()) await each.close();
});

/** Where threads are kept: each call of what is returned opens the same file, as another process does. */
export function storeFile() {
  const folder = mkdtempSync(join(tmpdir(), 'holdpoint-migration-'));
  opened.push({ close: () => rmSync(folder, { recursive: true }) });
  return () => {
    const store = sqliteStore(join(folder, 'threads.sqlite'));
    opened.push(store);
    return store;
  };
}

/** The text of the guide under a heading. */
export function sectionOf(path: string, heading: string): string {
  const [page] = pagesAt(path);
  const section = page?.text.split(/^#+ /m).find((each) => each.startsWith(`${heading}\n`));
  if (section === undefined) throw new Error(`${path} has no heading "${heading}".`);
  return section;
}

/** What the second column of a table says beside the first, which begins so. */
export function afterOf(path: string, heading: string, before: string): string {
  const rows = sectionOf(path, heading).split('\n');
  const row = rows.find((each) => each.startsWith(`| \`${before}`));
  const [, code] = /^\|[^|]*\| [^|`]*`([^`]*)`/.exec(row ?? '') ?? [];
  if (code === undefined) throw new Error(`No row for "${before}" under "${heading}".`);
  return code;
}
