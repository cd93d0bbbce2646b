import { setImmediate } from 'node:timers/promises';
import { askInTerminal, terminalUserInterface } from 'holdpoint/terminal';
import { afterEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { approval, field, question } from './requests.ts';
import { approving, keys, rejecting, VirtualTerminal } from './virtual-terminal.ts';
import { waitUntil } from '../support/waiting.ts';
import { pickCases } from '../support/sampling.ts';

type TerminalOptions = NonNullable<Parameters<typeof terminalUserInterface>[0]>;

const open = 'Reject with a reason';

afterEach(() => vi.restoreAllMocks());

/** What may happen to a terminal while somebody is asked, and what comes of it. */
const ends: [name: string, happen: (terminal: VirtualTerminal) => unknown, dismisses: boolean][] = [
  ['Ctrl+C', (terminal) => terminal.types(keys.control('c')), true],
  ['Ctrl+D', (terminal) => terminal.types(keys.control('d')), true],
  ['the end of the input', (terminal) => terminal.input.end(), true],
  ['a destroyed input', (terminal) => terminal.input.destroy(), false],
  ['an input that fails', (terminal) => terminal.input.destroy(new Error('EIO')), false],
  ['a destroyed output', (terminal) => terminal.output.destroy(), false],
  ['an output that fails', (terminal) => terminal.output.destroy(new Error('EPIPE')), false],
  ['an output that is closed', (terminal) => terminal.output.end(), false],
];

describe('Z4-10, X-08: the terminal is given back', () => {
  test.each(pickCases(ends, 3))('after %s; the request stays open', async (_name, happen) => {
    const terminal = new VirtualTerminal();
    const asking = askInTerminal([approval(), approval()], terminal);
    await terminal.ends(open);
    expect(terminal.faults()).not.toEqual([]);
    await happen(terminal);
    expect(await asking).toEqual([]);
    expect(terminal.faults().filter((fault) => canStillBeTold(terminal, fault))).toEqual([]);
  });

  test.each(pickCases(ends, 3))(
    'after %s at a question: a person dismisses, a broken terminal does not',
    async (_name, happen, dismisses) => {
      const terminal = new VirtualTerminal();
      const asking = askInTerminal(question(field(['A'])), terminal);
      await terminal.ends('❯ 1. A');
      await happen(terminal);
      expect(await asking).toHaveLength(dismisses ? 1 : 0);
    },
  );

  test.each(pickCases(ends, 3))(
    'after %s at a question that leaving keeps: it stays open',
    async (_name, happen) => {
      const terminal = new VirtualTerminal();
      const two = [question(field(['A'])), question(field(['B']))];
      const asking = askInTerminal(two, { ...streams(terminal), onLeave: 'keep' });
      await terminal.ends('❯ 1. A');
      await happen(terminal);
      expect(await asking).toEqual([]);
    },
  );

  test.each(pickCases(ends, 3))('after %s in a text', async (_name, happen) => {
    const terminal = new VirtualTerminal();
    const choice = terminalUserInterface(terminal).getUserChoice('Which?', ['A']);
    await terminal.ends('Say something else...');
    await terminal.types('2');
    await terminal.ends('to go back');
    await happen(terminal);
    expect(await choice).toBe('cancelled');
    expect(terminal.faults().filter((fault) => canStillBeTold(terminal, fault))).toEqual([]);
  });

  test('after an answer, as it was before: raw stays raw, flowing stays flowing', async () => {
    const terminal = new VirtualTerminal();
    terminal.input.setRawMode(true).on('data', () => {});
    const asking = askInTerminal(approval(), streams(terminal));
    await terminal.ends(open);
    await terminal.types(...approving);
    expect(await asking).toHaveLength(1);
    expect(terminal.input.isRaw).toBe(true);
    expect(terminal.input.readableFlowing).toBe(true);
  });

  test('after an answer, without anything that keeps the process alive', async () => {
    const terminal = new VirtualTerminal();
    const asking = askInTerminal(approval(), terminal);
    await terminal.ends(open);
    await terminal.types(...approving);
    await asking;
    expect(terminal.input.isPaused()).toBe(true);
    expect(terminal.faults()).toEqual([]);
  });

  test('again and again: what was asked once can be asked next', async () => {
    const terminal = new VirtualTerminal();
    for (const approved of [true, false]) {
      const asking = askInTerminal(approval(), terminal);
      await terminal.ends(open);
      await terminal.types(...(approved ? approving : rejecting));
      expect(await asking).toMatchObject([{ approved }]);
      expect(terminal.faults()).toEqual([]);
    }
  });

  test('after a signal, which the promise rejects with; the signal is not listened to any more', async () => {
    const terminal = new VirtualTerminal();
    const controller = new AbortController();
    const removed = vi.spyOn(controller.signal, 'removeEventListener');
    const asking = askInTerminal([approval(), approval()], streams(terminal, controller.signal));
    await terminal.ends(open);
    controller.abort(new Error('answered elsewhere'));
    await expect(asking).rejects.toThrow('answered elsewhere');
    expect(terminal.faults()).toEqual([]);
    expect(removed).toHaveBeenCalledTimes(1);
  });

  test.each([
    [
      'an approval',
      async (at: TerminalOptions) => askInTerminal(approval(), at),
      'May I book this flight?',
    ],
    [
      'a choice',
      async (at: TerminalOptions) => terminalUserInterface(at).getUserChoice('Which?', ['A']),
      'Which?',
    ],
  ])('one line says that %s is closed by a signal', async (_what, ask, text) => {
    const terminal = new VirtualTerminal();
    const controller = new AbortController();
    const asking = ask(streams(terminal, controller.signal));
    await terminal.shows('Enter to select');
    controller.abort(new Error('Rejected by ben:\n\u202etoo dear'));
    await expect(asking).rejects.toThrow('Rejected by ben');
    expect(terminal.screen).toContain(text);
    expect(terminal.screen).toMatch(
      /\n {2}✗ Closed: Rejected by ben:\\u\{a\}\\u\{202e\}too dear\n$/,
    );
    expect(terminal.screen).not.toContain('❯');
  });

  test('a signal that is aborted already shows nothing', async () => {
    const terminal = new VirtualTerminal();
    const signal = AbortSignal.abort(new Error('too late'));
    await expect(askInTerminal(approval(), streams(terminal, signal))).rejects.toThrow('too late');
    expect(terminal.output.written).toBe('');
  });

  test('an input that has ended already is no answer', async () => {
    const terminal = new VirtualTerminal();
    terminal.input.end().resume();
    await waitUntil(() => terminal.input.readableEnded);
    expect(await askInTerminal([question(field(['A'])), approval()], terminal)).toEqual([]);
    expect(terminal.output.isCursorShown).toBe(true);
  });

  test('after an error at a key, which the promise rejects with', async () => {
    const terminal = new VirtualTerminal();
    const line = terminalUserInterface(terminal).readLine('> ');
    await terminal.shows('> ▏');
    vi.spyOn(Intl.Segmenter.prototype, 'segment').mockImplementation(() => {
      throw new Error('a fault of ours');
    });
    await terminal.types('ab', keys.backspace);
    await expect(line).rejects.toThrow('a fault of ours');
    expect(terminal.faults()).toEqual([]);
  });

  test('after an error while it is drawn, which the promise rejects with', async () => {
    const terminal = new VirtualTerminal();
    const line = terminalUserInterface(terminal).readLine('> ');
    await terminal.shows('> ▏');
    vi.spyOn(Number.prototype, 'toLocaleString').mockImplementation(() => {
      throw new Error('a fault of ours');
    });
    await terminal.types('long'.repeat(1_000));
    await expect(line).rejects.toThrow('a fault of ours');
    expect(terminal.faults()).toEqual([]);
  });

  test.each(['setRawMode', 'write'] as const)(
    'where its own %s throws at once; the request stays open (regression: listeners and raw mode were left)',
    async (broken) => {
      const terminal = new VirtualTerminal();
      const stream = broken === 'write' ? terminal.output : terminal.input;
      Reflect.set(stream, broken, () => {
        Reflect.deleteProperty(stream, broken);
        throw new Error('EIO');
      });
      expect(await askInTerminal(approval(), terminal)).toEqual([]);
      expect(terminal.faults()).toEqual([]);
    },
  );

  test.each([0, 1, 2])(
    'where the output throws at its frames, after %i writes (regression: it was asked for ever)',
    async (count) => {
      const terminal = new VirtualTerminal();
      const { output } = terminal;
      const write = output.write.bind(output);
      let written = 0;
      Reflect.set(output, 'write', (text: string) => {
        written += 1;
        if (written > count) throw new Error('EPIPE');
        return write(text);
      });
      expect(await askInTerminal(approval(), terminal)).toEqual([]);
      const left = terminal.faults().filter((fault) => !/cursor|pastes/.test(fault));
      expect(left).toEqual([]);
    },
  );

  test('after Ctrl+C in a paste that never ends (regression: it was a part of the paste)', async () => {
    const terminal = new VirtualTerminal();
    const asking = askInTerminal(approval(), terminal);
    await terminal.ends(open);
    await terminal.types('\u001B[200~', 'abc', keys.control('c'));
    expect(await asking).toEqual([]);
    expect(terminal.faults()).toEqual([]);
  });

  test.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
    'at %s, where the app goes on to end by itself; the request stays open',
    async (signal) => {
      const heard = vi.fn<() => void>();
      process.once(signal, heard);
      const terminal = new VirtualTerminal();
      const asking = askInTerminal(question(field(['A'])), terminal);
      await terminal.ends('❯ 1. A');
      process.on(signal, heard);
      process.emit(signal, signal);
      expect(terminal.output.isCursorShown).toBe(true);
      expect(terminal.input.isRaw).toBe(false);
      expect(await asking).toEqual([]);
      process.off(signal, heard);
      expect(heard).toHaveBeenCalledTimes(2);
    },
  );
});

/** Makes the terminal the one of this process, until the test ends. */
function own({ input }: VirtualTerminal): void {
  const before = Object.getOwnPropertyDescriptor(process, 'stdin');
  Object.defineProperty(process, 'stdin', { value: input, configurable: true });
  onTestFinished(() => {
    if (before !== undefined) Object.defineProperty(process, 'stdin', before);
  });
}

describe('Ctrl+Z', () => {
  test('at a terminal that is not the own one of the process stops nothing: it may be at the far end of a socket', async () => {
    const terminal = new VirtualTerminal();
    const kill = vi.spyOn(process, 'kill').mockReturnValue(true);
    const asking = askInTerminal(approval(), terminal);
    await terminal.ends(open);
    await terminal.types(keys.control('z'), keys.escape);
    expect(await asking).toEqual([]);
    expect(kill).not.toHaveBeenCalled();
  });

  test.skipIf(process.platform === 'win32')(
    'gives the terminal to the shell, and draws the question anew afterwards; what was typed at the shell answers nothing',
    async () => {
      const terminal = new VirtualTerminal();
      own(terminal);
      const whenStopped: string[][] = [];
      const kill = vi.spyOn(process, 'kill').mockImplementation(() => {
        whenStopped.push(terminal.faults().filter((fault) => !fault.startsWith('listeners')));
        whenStopped.push([terminal.screen.trim()]);
        terminal.output.write('$ fg\n');
        terminal.input.write(`1\r${keys.up}\r`);
        return true;
      });
      const asking = askInTerminal(approval(), terminal);
      await terminal.ends(open);
      const before = terminal.screen;
      await terminal.types(keys.control('z'));
      process.emit('SIGCONT', 'SIGCONT');
      await terminal.ends(open);
      expect(kill.mock.calls).toEqual([[0, 'SIGTSTP']]);
      expect(whenStopped).toEqual([[], ['']]);
      expect(terminal.screen).toBe(`$ fg\n${before}`);
      for (let turn = 0; turn < 4; turn++) await setImmediate();
      await terminal.types(keys.escape);
      expect(await asking).toEqual([]);
      expect(terminal.faults()).toEqual([]);
    },
  );

  test('where no shell stops it, the question is there again', async () => {
    const terminal = new VirtualTerminal();
    own(terminal);
    vi.spyOn(process, 'kill').mockReturnValue(true);
    const asking = askInTerminal(approval(), terminal);
    await terminal.ends(open);
    const before = terminal.screen;
    await terminal.types(keys.control('z'));
    await waitUntil(() => terminal.screen === before);
    for (let turn = 0; turn < 4; turn++) await setImmediate();
    expect(terminal.input.isRaw).toBe(true);
    await terminal.types(...rejecting);
    expect(await asking).toMatchObject([{ approved: false }]);
  });
});

function streams({ input, output }: VirtualTerminal, signal?: AbortSignal): TerminalOptions {
  return signal === undefined ? { input, output } : { input, output, signal };
}

/* Nobody can write to an output that is gone. */
function canStillBeTold({ output }: VirtualTerminal, fault: string): boolean {
  return output.writable || !/cursor|pastes/.test(fault);
}

test.each([
  [
    'the output is no terminal',
    (terminal: VirtualTerminal) => void (terminal.output.isTTY = false),
  ],
  ['the input is no terminal', (terminal: VirtualTerminal) => void (terminal.input.isTTY = false)],
  [
    'single keys can’t be read',
    ({ input }: VirtualTerminal) => void Object.assign(input, { setRawMode: undefined }),
  ],
  ['the terminal is dumb', () => void vi.stubEnv('TERM', 'dumb')],
])('Z4-5: a numbered list is asked where %s', async (_name, spoil) => {
  const terminal = new VirtualTerminal();
  spoil(terminal);
  const { input, output } = terminal;
  const asking = askInTerminal(approval(), { input, output, acceptLines: true });
  await terminal.shows('  1. Approve');
  await terminal.shows('Enter your choice');
  terminal.input.write('approve\n');
  expect(await asking).toMatchObject([{ approved: true }]);
  vi.unstubAllEnvs();
});
