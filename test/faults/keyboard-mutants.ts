import type { SourceMutant } from './source-mutants.ts';

const failed = /AssertionError|is not on the screen|A control character/;

/** A line of the terminal that is broken, and the part of a test's name that finds out. */
function mutant([promise, file, from, to, name]: readonly [
  promise: string,
  file: string,
  from: string,
  to: string,
  name: string,
]): SourceMutant {
  const suite = ['terminal/just-appeared', name] as const;
  return { promise, file: `channels/terminal/${file}`, from, to, suite, sentence: failed };
}

/** What holds of a request that has just appeared on a terminal. */
export const keyboardMutants: readonly SourceMutant[] = [
  mutant([
    'no key answers a request that has just appeared',
    'keys.ts',
    'const isAccepted = !isHeld && !this.isEarly;',
    'const isAccepted = !isHeld;',
    'a choice takes no key at once',
  ]),
  mutant([
    'no key that is held answers the next request',
    'keys.ts',
    'if (now - stroke.at < releaseTime) stroke.isHeld = true;',
    'if (now - stroke.at < releaseTime) stroke.isHeld = false;',
    'that was pressed before it was asked',
  ]),
  mutant([
    'a key that was ignored and keeps coming stays ignored',
    'keys.ts',
    '{ at, isHeld: !isAccepted }',
    '{ at, isHeld }',
    'however long it is held',
  ]),
  mutant([
    'a key of one call answers no request of another at the same terminal',
    'keys.ts',
    'guards.get(input) ?? new KeyGuard()',
    'new KeyGuard()',
    'that was pressed before it was asked',
  ]),
  mutant([
    'the dead time begins when the terminal has taken the frame',
    'screen.ts',
    "output.write('', start)",
    'start()',
    'before the terminal has taken its frame',
  ]),
  mutant([
    'what follows Ctrl+Z and fg answers nothing at once',
    'screen.ts',
    'this.#guard.announce();\n      this.#open.redraw();',
    'this.#open.redraw();',
    'and fg no key counts at once',
  ]),
  mutant([
    'Ctrl+C and Ctrl+D dismiss nothing unread',
    'screen.ts',
    "isAccepted ? 'ended' : 'unread'",
    "'ended'",
    'dismisses nothing, says so',
  ]),
  mutant([
    'the end of the input dismisses nothing unread',
    'screen.ts',
    "this.#guard.isEarly ? 'unread' : 'ended'",
    "'ended'",
    'by the end of the input dismisses nothing',
  ]),
  mutant([
    'a question that was not read is not dismissed',
    'ask-in-terminal.ts',
    "const isDecided = reason === 'interrupted' || reason === 'ended';",
    "const isDecided = reason !== 'lost';",
    'dismisses nothing, says so',
  ]),
  mutant([
    'each request that is asked is new',
    'ask-in-terminal.ts',
    '    dialog.announce();\n    const { given',
    '    const { given',
    'an approval takes no key at once',
  ]),
  mutant([
    'a group is new where it has requests that were not shown',
    'ask-in-terminal.ts',
    'if (!isGroupShown) dialog.announce();',
    '',
    'where one was not shown before',
  ]),
  mutant([
    'which later calls a yes covers is new',
    'ask-approval.ts',
    'dialog.announce();',
    '',
    'the later calls that a yes would cover',
  ]),
  mutant([
    'the review of a form is new',
    'ask-question.ts',
    'dialog.announce();',
    '',
    'the answers of a form before they are sent',
  ]),
  mutant([
    'a choice of the app is new',
    'user-interface.ts',
    'dialog.announce();\n  await dialog.show(',
    'await dialog.show(',
    'own',
  ]),
  mutant([
    'a line that the app asks for is new',
    'user-interface.ts',
    'dialog.announce();\n          return',
    'return',
    'own',
  ]),
  mutant([
    'the rest of a line that was being typed answers nothing',
    'picker.ts',
    'this.#typeAhead?.includes(stroke, key);',
    'void stroke;',
    'the end of a line that was being typed',
  ]),
  mutant([
    'a line that comes at once answers nothing at a terminal',
    'with-dialog.ts',
    'if (!isTerminal || !guard.isEarly) return line;',
    'if (line !== undefined) return line;',
    'a line that comes at once',
  ]),
  mutant([
    'the end of lines dismisses nothing unread',
    'with-dialog.ts',
    "throw new UnansweredError('unread');",
    'return line;',
    'dismisses no question that nobody could read',
  ]),
  mutant([
    'the terminal says whose answer it takes',
    'page.ts',
    'if (person === undefined) return content;',
    "if (person !== '') return content;",
    'is named',
  ]),
  mutant([
    'the name of the person at the terminal is inert',
    'page.ts',
    'inertLine(person)',
    'person',
    'is named next to the choices',
  ]),
  {
    promise: 'text of the terminal is never dim',
    file: 'channels/terminal/styled-text.ts',
    from: "hint: style('italic')",
    to: "hint: style('dim')",
    suite: ['terminal/styles', 'bold, italic and inverse alone'],
    sentence: failed,
  },
  {
    promise: 'what an app says when it closes a question is printed inert',
    file: 'channels/terminal/with-dialog.ts',
    from: 'inertLine(reason.message)',
    to: 'reason.message',
    suite: ['terminal/restore', 'is closed by a signal'],
    sentence: /AssertionError/,
  },
];
