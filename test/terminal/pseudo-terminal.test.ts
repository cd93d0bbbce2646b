import { describe, expect, test } from 'vitest';
import { ask, expectRestored, program } from './ask-in-tmux.ts';
import { goldenFrames } from './golden-frames.ts';
import { hasTmux, Tmux } from './tmux.ts';

describe.skipIf(!hasTmux)(
  'in a real terminal (skipped without tmux)',
  { concurrent: false },
  () => {
    test('S4-11, S4-12: the frame is the one of the seed', async () => {
      await using tmux = await ask('choice');
      expect(await tmux.reads('Say something else...')).toBe(goldenFrames.selector);
      expect(await tmux.isCursorShown()).toBe(false);
      await tmux.press('j');
      expect(await tmux.shows('❯ Show')).toBe(goldenFrames.selectorMovedDown);
      await tmux.press('Enter');
      expect(await tmux.shows('answer:')).toContain('answer: "Show me a diff first"');
      await expectRestored(tmux);
    });

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

    test.each([
      ['Ctrl+C', 'C-c', 'answer: "cancelled"'],
      ['Ctrl+D', 'C-d', 'answer: "cancelled"'],
    ])('%s cancels, and the terminal is as before', async (_name, key, text) => {
      await using tmux = await ask('choice');
      await tmux.reads('❯ Apply');
      await tmux.press(key);
      await tmux.shows(text);
      await expectRestored(tmux);
    });

    test('what was typed before the question could be read does not answer it', async () => {
      await using tmux = await Tmux.start();
      await tmux.command(`clear; sleep 0.2; ${program} approval`);
      await tmux.press('1', 'Enter', '1', 'Enter');
      await tmux.reads('❯ Reject\n    Reject with a reason');
      await tmux.press('Escape');
      await tmux.shows('answer: "left open"');
    });
  },
);
