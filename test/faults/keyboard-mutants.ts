import type { SourceMutant } from './source-mutants.ts';

const failed = /AssertionError|is not on the screen|A control character/;

/** A piece of the terminal that is broken, and the part of a test's name that finds out. */
function mutant([promise, within, from, to, name]: readonly [
  promise: string,
  within: string,
  from: string,
  to: string,
  name: string,
]): SourceMutant {
  const suite = ['terminal/just-appeared', name] as const;
  return { promise, within, from, to, suite, sentence: failed };
}

/** What holds of a request that has just appeared on a terminal. */
export const keyboardMutants: readonly SourceMutant[] = [
  mutant([
    'no key answers a request that has just appeared',
    'KeyGuard.accepts',
    '!isHeld && !this.isEarly',
    '!isHeld',
    'a choice takes no key at once',
  ]),
  mutant([
    'no key that is held answers the next request',
    'KeyGuard.announce',
    '(now - stroke.at < releaseTime) stroke.isHeld = true',
    '(now - stroke.at < releaseTime) stroke.isHeld = false',
    'that was pressed before it was asked',
  ]),
  mutant([
    'a key that was ignored and keeps coming stays ignored',
    'KeyGuard.accepts',
    'isHeld: !isAccepted',
    'isHeld',
    'however long it is held',
  ]),
  mutant([
    'a key of one call answers no request of another at the same terminal',
    'findGuard',
    'guards.get(input) ?? new KeyGuard()',
    'new KeyGuard()',
    'that was pressed before it was asked',
  ]),
  mutant([
    'the dead time begins when the terminal has taken the frame',
    'Screen.#startDeadTime',
    "output.write('', start)",
    'start()',
    'before the terminal has taken its frame',
  ]),
  mutant([
    'what follows Ctrl+Z and fg answers nothing at once',
    'Screen.#resume',
    'this.#guard.announce(); this.#open.redraw()',
    'this.#open.redraw()',
    'and fg no key counts at once',
  ]),
  mutant([
    'Ctrl+C and Ctrl+D dismiss nothing unread',
    'Screen.#press',
    "isAccepted ? 'ended' : 'unread'",
    "'ended'",
    'dismisses nothing, says so',
  ]),
  mutant([
    'the end of the input dismisses nothing unread',
    'Screen.#onEnd',
    "this.#guard.isEarly ? 'unread' : 'ended'",
    "'ended'",
    'by the end of the input dismisses nothing',
  ]),
  mutant([
    'a question that was not read is not dismissed',
    'dismissIfDecided',
    "reason === 'interrupted' || reason === 'ended'",
    "reason !== 'lost'",
    'dismisses nothing, says so',
  ]),
  mutant([
    'each request that is asked is new',
    'askAll',
    'dialog.announce(); const { given',
    'const { given',
    'an approval takes no key at once',
  ]),
  mutant([
    'a group is new where it has requests that were not shown',
    'ask',
    'if (!isGroupShown) dialog.announce();',
    '',
    'where one was not shown before',
  ]),
  mutant([
    'which later calls a yes covers is new',
    'askRemember',
    'dialog.announce();',
    '',
    'the later calls that a yes would cover',
  ]),
  mutant([
    'the review of a form is new',
    'reviewAnswers',
    'dialog.announce();',
    '',
    'the answers of a form before they are sent',
  ]),
  mutant([
    'a choice of the app is new',
    'choose',
    'dialog.announce(); await dialog.show(',
    'await dialog.show(',
    'own',
  ]),
  mutant([
    'a line that the app asks for is new',
    'terminalUserInterface',
    'dialog.announce(); return',
    'return',
    'own',
  ]),
  mutant([
    'the rest of a line that was being typed answers nothing',
    'Picker.ignore',
    'this.#typeAhead?.includes(stroke, key)',
    'void stroke',
    'the end of a line that was being typed',
  ]),
  mutant([
    'a line that comes at once answers nothing at a terminal',
    'makeLineDialog',
    '!isTerminal || !guard.isEarly',
    'line !== undefined',
    'a line that comes at once',
  ]),
  mutant([
    'the end of lines dismisses nothing unread',
    'makeLineDialog',
    "throw new UnansweredError('unread')",
    'return line',
    'dismisses no question that nobody could read',
  ]),
  mutant([
    'the terminal says whose answer it takes',
    'addAnswerer',
    'person === undefined',
    "person !== ''",
    'is named',
  ]),
  mutant([
    'the name of the person at the terminal is inert',
    'addAnswerer',
    'inertLine(person)',
    'person',
    'is named next to the choices',
  ]),

  {
    promise: 'what an app says when it closes a question is printed inert',
    within: 'describeClosing',
    from: 'inertLine(reason.message)',
    to: 'reason.message',
    suite: ['terminal/restore', 'is closed by a signal'],
    sentence: /AssertionError/,
  },
];
