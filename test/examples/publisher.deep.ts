import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { hasTmux, Tmux } from '../terminal/tmux.ts';

const program = `'${process.execPath}' --conditions=holdpoint-source examples/publisher/main.ts`;

describe.skipIf(!hasTmux)('the publisher in a real terminal (skipped without tmux)', () => {
  test('it asks, is left, and asks the same in the next process; what is approved is published once', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'holdpoint-publisher-'));
    const path = join(folder, 'announcements.txt');
    try {
      await using tmux = await Tmux.start({ columns: 80, rows: 30 });
      const start = async () =>
        tmux.commandOnClearScreen(`NO_COLOR=1 HOLDPOINT_DEMO_DIR='${folder}' ${program}`);
      await start();
      await tmux.reads('In which tone?');
      await tmux.press('Down');
      await tmux.shows('❯ 2. Cheerful');
      await tmux.press('Enter');
      await tmux.shows('Publish "Great news: We ship on Friday!"?');
      await tmux.shows('Reject with a reason');
      await tmux.press('C-c');
      await tmux.shows('The requests are kept. Start the program again');
      expect(existsSync(path)).toBe(false);

      await start();
      await tmux.shows('Publish "Great news: We ship on Friday!"?');
      await tmux.reads('Reject with a reason');
      await tmux.press('Up');
      await tmux.shows('❯ Approve');
      await tmux.press('Enter');
      await tmux.shows('It is published.');
      expect(readFileSync(path, 'utf8')).toBe('Great news: We ship on Friday!\n');
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
