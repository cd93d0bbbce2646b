import { describe, expect, test } from 'vitest';
import { ask, expectRestored } from './ask-in-tmux.ts';
import { goldenFrames } from './golden-frames.ts';
import { hasTmux } from './tmux.ts';

describe.skipIf(!hasTmux)(
  'in a real terminal (skipped without tmux)',
  { concurrent: false },
  () => {
    test('an approval is the golden frame; Enter alone rejects', async () => {
      await using tmux = await ask('approval');
      expect(await tmux.reads('Reject with a reason')).toBe(goldenFrames.approval);
      await tmux.press('Enter');
      await tmux.shows('answer: false');
      await expectRestored(tmux);
    });

    test('Ctrl+Z suspends; what is typed at the shell answers nothing, and fg shows the question again', async () => {
      await using tmux = await ask('approval');
      await tmux.shows('Reject with a reason');
      await tmux.press('C-z');
      expect(await tmux.shows(/Stopped|Suspended/i)).not.toContain('Approve');
      await expectRestored(tmux);
      await tmux.press('C-c');
      await tmux.command('echo 1');
      await tmux.press('Up', 'Enter');
      await tmux.press('C-c');
      await tmux.command('clear; fg');
      const screen = await tmux.reads('Reject with a reason');
      expect(screen.slice(screen.indexOf('May I'))).toBe(goldenFrames.approval);
      expect(await tmux.isCursorShown()).toBe(false);
      await tmux.press('Up');
      await tmux.shows('❯ Approve');
      await tmux.press('Enter');
      await tmux.shows('answer: true');
      await expectRestored(tmux);
    });
  },
);
