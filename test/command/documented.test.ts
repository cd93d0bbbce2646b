import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { pagesAt } from '../docs/markdown-page.ts';
import { runCommand } from '../support/run-holdpoint.ts';
import { fillOffice, inStore, makeSameIds } from './office.ts';

const folder = mkdtempSync(join(tmpdir(), 'holdpoint-documented-'));
const file = join(folder, 'threads.sqlite');
afterAll(() => rmSync(folder, { recursive: true }));

const monday = Date.parse('2026-11-30T09:00:00Z');
const [page] = pagesAt('docs/command.md');
const block = String.raw`((?:(?!\x60\x60\x60).*\n)*)\x60\x60\x60`;
const example = new RegExp(
  String.raw`^\x60\x60\x60sh\n${block}\n\n\x60\x60\x60text\n${block}`,
  'gm',
);
const examples = [...(page?.text ?? '').matchAll(example)].map(
  ([, commands = '', output = '']) => ({ commands: commands.trimEnd().split('\n'), output }),
);

/** The words of a line for a shell, as far as the page uses one, with what names files of the page in the folder of the test. */
function splitWords(line: string): string[] {
  const words = [...line.matchAll(/'([^']*)'|(\S+)/g)].map(
    ([, quoted, plain]) => quoted ?? plain ?? '',
  );
  return words.map((word) => (word === 'threads.jsonl' ? join(folder, word) : word));
}

/** Runs a line of the page. Its output may go to a file. */
async function runLine(line: string): Promise<string> {
  const [npx, holdpoint, ...words] = splitWords(line);
  expect([npx, holdpoint]).toEqual(['npx', 'holdpoint']);
  const at = words.indexOf('>');
  const args = at === -1 ? words : words.slice(0, at);
  let output = '';
  const { error } = await runCommand(args, {
    env: { HOLDPOINT_STORE: file },
    now: () => monday,
    write: async (text) => void (output += text),
  });
  expect(error).toBe('');
  if (at === -1) return output;
  writeFileSync(words[at + 1] ?? '', output);
  return '';
}

/** An output without what is another one each time. */
function hideRandom(output: string): string {
  return output.replaceAll(/:\d+\/inbox-[\w-]{22}\?token=[\w-]{22}$/gm, ':…/inbox-…?token=…');
}

test('each example of the page prints what the page says', async () => {
  const settings = { now: () => monday, generateId: makeSameIds() };
  await inStore(file, async (store) => fillOffice(store, settings));
  const printed: string[] = [];
  for (const { commands } of examples) {
    let all = '';
    for (const line of commands) all += await runLine(line);
    printed.push(all);
  }
  expect(examples.length).toBeGreaterThan(7);
  expect(printed.map(hideRandom)).toEqual(examples.map(({ output }) => hideRandom(output)));
});
