import { describe, expect, test } from 'vitest';
import { ask, expectRestored, program, status } from './ask-in-tmux.ts';
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

    test('every key does what the seed says', async () => {
      await using tmux = await ask('choice');
      const steps = [
        ['Down', 'Show me'],
        ['j', 'Create'],
        ['Up', 'Show me'],
        ['k', 'Apply'],
        ['k', 'Say something'],
        ['Down', 'Apply'],
        ['End', 'Say something'],
        ['Home', 'Apply'],
        ['PageDown', 'Say something'],
        ['PageUp', 'Apply'],
      ] as const;
      await tmux.reads('❯ Apply');
      for (const [key, highlighted] of steps) {
        await tmux.press(key);
        await tmux.shows(`❯ ${highlighted}`);
      }
      await tmux.press('Escape');
      await tmux.press('q', '9', 'Down');
      await tmux.shows('❯ Show me');
      await tmux.press('5');
      await tmux.shows('Enter your response: ▏');
      await tmux.type('x');
      await tmux.press('Escape');
      await tmux.shows('❯ Say something');
      await tmux.press('Enter');
      await tmux.shows('Enter your response: x▏');
      await tmux.press('BSpace');
      await tmux.type('with tests');
      expect(await tmux.shows('with tests▏')).toBe(goldenFrames.text);
      await tmux.press('Enter');
      await tmux.shows('answer: "with tests"');
      await expectRestored(tmux);
    });

    test('a paste of several lines is one text, and presses nothing before', async () => {
      await using tmux = await ask('choice');
      await tmux.reads('❯ Apply');
      await tmux.paste('1\n2\n');
      await tmux.press('5');
      await tmux.shows('Enter your response: ▏');
      await tmux.paste('one\ntwo');
      await tmux.shows('Enter your response: one\n│ two▏');
      await tmux.press('C-j');
      await tmux.type('three');
      await tmux.press('M-Enter');
      await tmux.type('four');
      await tmux.shows('│ two\n│ three\n│ four▏');
      await tmux.press('Enter');
      await tmux.shows('answer: "one\\ntwo\\nthree\\nfour"');
    });

    test('several are asked one after another', async () => {
      await using tmux = await ask('several');
      await tmux.shows('1 of 2');
      await tmux.reads('Reject with a reason');
      await tmux.press('1');
      await tmux.shows('❯ Approve');
      await tmux.press('Enter');
      await tmux.reads('❯ 1. [ ] Caching');
      await tmux.press('Space', 'Down', 'Down', 'Space');
      await tmux.shows('❯ 3. [x] Tracing');
      await tmux.press('Enter');
      await tmux.shows('answer: ["approval-response",["option-0","option-2"]]');
    });

    test('a resize while it is open draws it anew', async () => {
      await using tmux = await ask('many', { columns: 80, rows: 30 });
      await tmux.reads('Option 24');
      await tmux.resize({ columns: 30, rows: 12 });
      expect(await tmux.shows('↓ 35 more…')).toMatch(/❯ Option 1\n {4}Option 2\n {4}Option 3\n/);
      await tmux.resize({ columns: 100, rows: 20 });
      await tmux.shows('↓ 27 more…');
      await tmux.press('End');
      await tmux.shows('❯ Say something else...');
      await tmux.press('1');
      await tmux.shows('❯ Option 1');
      expect((await tmux.screen()).match(/❯/g)).toHaveLength(1);
      await tmux.press('Enter');
      await tmux.shows('answer: "Option 1"');
      await expectRestored(tmux);
    });

    test('wide characters in a narrow window stay in their lines', async () => {
      await using tmux = await ask('wide', { columns: 30, rows: 30 });
      const screen = await tmux.reads('Say something else...');
      expect(screen).toContain('  ❯ 東京タワーへ行く。東京タ\n    ┊ ワーへ行く。東京タワーへ\n');
      expect(screen).toMatch(/\n {4}(🚀){12}…\n/u);
      await tmux.press('2');
      await tmux.shows('answer: "🚀');
    });

    test.each([
      ['TERM', 143],
      ['INT', 130],
      ['HUP', 129],
    ])(
      'Z4-10: killed by SIG%s in the middle, it leaves the terminal as before',
      async (signal, code) => {
        await using tmux = await ask('choice pid');
        const screen = await tmux.shows('❯ Apply');
        process.kill(Number(/pid: (\d+)/.exec(screen)?.[1]), `SIG${signal}`);
        expect(await status(tmux)).toBe(code);
        await expectRestored(tmux);
      },
    );

    test('an app that listens once to the signal ends in its own way (regression: it was killed)', async () => {
      await using tmux = await ask('approval once');
      const screen = await tmux.shows('Reject with a reason');
      process.kill(Number(/pid: (\d+)/.exec(screen)?.[1]), 'SIGTERM');
      await tmux.shows('answer: "told to stop"');
      expect(await status(tmux)).toBe(0);
      await expectRestored(tmux);
    });

    test.each([
      ['an error of the app', 'throw', 1],
      ['an exit of the app', 'exit', 3],
    ])('after %s the terminal is as before', async (_name, meanwhile, code) => {
      await using tmux = await ask(`choice ${meanwhile}`);
      await tmux.shows('❯ Apply');
      await tmux.press('x');
      expect(await status(tmux)).toBe(code);
      await expectRestored(tmux);
    });

    test('input that is no terminal is asked line by line', async () => {
      await using tmux = await Tmux.start();
      await tmux.command(`clear; printf '2\\n' | ${program} choice`);
      const screen = await tmux.shows('answer:');
      expect(screen).toContain(`${goldenFrames.numbered}2\n`);
      expect(screen).toContain('answer: "Show me a diff first"');
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
