import type { QuestionRequestContent } from 'holdpoint';
import { askInTerminal } from 'holdpoint/terminal';
import { describe, expect, test } from 'vitest';
import { goldenFrames } from './golden-frames.ts';
import { approval, field, question } from './requests.ts';
import { keys, VirtualTerminal } from './virtual-terminal.ts';

/** Presses keys, each group once the screen ends with the text before it; the answers, and the last screen. */
async function play(
  request: QuestionRequestContent | QuestionRequestContent[],
  ...steps: [atTheEnd: string | RegExp, ...sent: string[]][]
) {
  const terminal = new VirtualTerminal();
  const asking = askInTerminal(request, terminal);
  const frames: string[] = [];
  for (const [text, ...sent] of steps) {
    await terminal.ends(text);
    frames.push(terminal.screen);
    await terminal.types(...sent);
  }
  const answers = await asking;
  expect(terminal.faults()).toEqual([]);
  return { answers, frames, screen: terminal.screen };
}

const answered = (...answers: { key: string; optionIds: string[]; text?: string }[]) => [
  { type: 'question-response', requestId: 'question-1', status: 'answered', answers },
];
const dismissed = { type: 'question-response', requestId: 'question-1', status: 'dismissed' };

describe('a choice', () => {
  test('is answered by the id of the option; descriptions are shown', async () => {
    const [one, two] = field(['Postgres', 'SQLite']).options;
    if (one === undefined || two === undefined) throw new Error('There are two options.');
    const options = [{ ...one, description: 'a server' }, two];
    const { answers, frames } = await play(question(field([], { options })), [
      'SQLite',
      'j',
      keys.enter,
    ]);
    expect(frames[0]).toContain('  ❯ 1. Postgres\n       a server\n    2. SQLite');
    expect(frames[0]).not.toContain('Say something else...');
    expect(answers).toEqual(answered({ key: 'field', optionIds: ['option-1'] }));
  });

  test('C-01: takes text only where the request says so', async () => {
    const asked = field(['A', 'B'], { freeText: 'optional' });
    const typed = await play(question(asked), ['Say something else...', '3', 'mine', keys.enter]);
    expect(typed.answers).toEqual(answered({ key: 'field', optionIds: [], text: 'mine' }));
    const none = await play(question(field(['A', 'B'])), ['B', '3', keys.enter]);
    expect(none.answers).toEqual(answered({ key: 'field', optionIds: ['option-0'] }));
    const only = await play(question(field(['A'], { freeText: 'only' })), [
      'for a new line',
      'mine',
      keys.enter,
    ]);
    expect(only.answers).toEqual(answered({ key: 'field', optionIds: [], text: 'mine' }));
  });

  test('C-03: what is preselected is marked and highlighted, and is no answer', async () => {
    const asked = field(['A', 'B', 'C'], { preselected: ['option-1'] });
    const { answers, frames } = await play(question(asked), ['C', keys.down, keys.enter]);
    expect(frames[0]).toContain('    1. A\n  ❯ 2. B (preselected)\n    3. C');
    expect(answers).toEqual(answered({ key: 'field', optionIds: ['option-2'] }));
  });

  test('none is an answer where none may be picked', async () => {
    const { answers } = await play(question(field(['A'], { min: 0 })), ['None of these', '2']);
    expect(answers).toEqual(answered({ key: 'field', optionIds: [] }));
  });
});

const some = (more = {}): QuestionRequestContent =>
  question(field(['Caching', 'Metrics', 'Tracing'], { max: 3, ...more }));

test('11 in a list of 60 goes to entry 11, picks none, and approves nothing after it (regression: it did both)', async () => {
  const terminal = new VirtualTerminal();
  const labels = Array.from({ length: 60 }, (_, index) => `Option ${index + 1}`);
  const asking = askInTerminal([question(field(labels)), approval()], terminal);
  await terminal.shows('❯  1. Option 1');
  await terminal.types('1', '1');
  expect(terminal.screen).toContain('❯ 11. Option 11');
  await terminal.types(keys.enter);
  await terminal.ends('Reject with a reason');
  expect(terminal.screen).toContain('  ✓ Option 11\n');
  await terminal.types('1', '1', keys.escape);
  expect(await asking).toMatchObject([{ answers: [{ optionIds: ['option-10'] }] }]);
});

describe('a choice of several', () => {
  test('is drawn as the golden frame; Space ticks, Enter sends', async () => {
    const { answers, frames, screen } = await play(some({ preselected: ['option-1'] }), [
      'Tracing',
      ' ',
      'j',
      'j',
      ' ',
      keys.up,
      ' ',
      keys.enter,
    ]);
    expect(frames[0]).toBe(goldenFrames.checklist);
    expect(answers).toEqual(answered({ key: 'field', optionIds: ['option-0', 'option-2'] }));
    expect(screen).toBe('Which one?\n\n  ✓ Caching\n  ✓ Tracing\n');
  });

  test('says what is too few or too many, and waits', async () => {
    const { answers, frames } = await play(
      some({ min: 2, max: 2 }),
      ['Tracing', keys.enter],
      ['At least 2: tick with Space.', '1', '2', '3'],
      ['No more than 2.', keys.enter],
    );
    expect(frames).toHaveLength(3);
    expect(answers).toEqual(answered({ key: 'field', optionIds: ['option-0', 'option-1'] }));
  });

  test('what is said of a tick comes and goes, and the list stays as it is', async () => {
    const { frames } = await play(
      some({ min: 2, max: 2 }),
      ['Tracing', keys.enter],
      ['At least 2: tick with Space.', 'j'],
      [/Tracing$/, 'k', '1', '2', keys.enter],
    );
    expect(frames[1]).toContain('    3. [ ] Tracing\n\n  At least 2: tick with Space.');
    expect(frames[2]).toMatch(
      /^Which one\?\n\n.*\n\n {4}1. \[ \] Caching\n {2}❯ 2. \[ \] Metrics\n {4}3. \[ \] Tracing$/,
    );
  });

  test('takes text beside what is ticked', async () => {
    const { answers } = await play(
      some({ freeText: 'optional' }),
      ['Say something else...', '1', keys.up, ' '],
      ['to go back', 'x', keys.escape],
      ['Say something else...', keys.enter],
      ['to go back', keys.backspace, 'and more', keys.enter],
    );
    expect(answers).toEqual(answered({ key: 'field', optionIds: ['option-0'], text: 'and more' }));
  });

  test('none is an answer where none may be picked', async () => {
    const { answers } = await play(some({ min: 0 }), ['Tracing', keys.enter]);
    expect(answers).toEqual(answered({ key: 'field', optionIds: [] }));
  });
});

describe('a confirmation', () => {
  const options = [
    { id: 'yes', label: 'Yes' },
    { id: 'no', label: 'No' },
    { id: 'no_with_feedback', label: 'No — tell me what to change' },
  ];
  const confirmation = question(field([], { options, freeText: 'optional' }), {
    kind: 'confirmation',
  });

  test('starts on its no, so that no stray Enter says yes', async () => {
    const { answers, frames } = await play(confirmation, [/change$/, keys.enter]);
    expect(frames[0]).toContain('    1. Yes\n  ❯ 2. No\n    3. No — tell me what to change');
    expect(answers).toEqual(answered({ key: 'field', optionIds: ['no'] }));
  });

  test('is confirmed by its yes', async () => {
    for (const sent of [
      ['1', keys.enter],
      [keys.up, keys.enter],
    ]) {
      const { answers } = await play(confirmation, [/change$/, ...sent]);
      expect(answers).toEqual(answered({ key: 'field', optionIds: ['yes'] }));
    }
  });

  test('is neither confirmed nor denied by a digit alone, nor by a line that was meant for something else', async () => {
    const { answers } = await play(
      confirmation,
      [/change$/, '1'],
      [/❯ 1. Yes[^]*change$/, '3', '2'],
      [/❯ 2. No[^]*change$/, ...'ok then'.split(''), keys.enter],
      [/Text is not an answer: use ↑\/↓$/, keys.control('c')],
    );
    expect(answers).toEqual([dismissed]);
  });

  test('says which tool it is about', async () => {
    const { frames } = await play({ ...confirmation, metadata: { target_tool: 'deploy\u202E' } }, [
      /change$/,
      keys.enter,
    ]);
    expect(frames[0]).toMatch(/^Which one\?\nTool: deploy\\u\{202e\}\n\n/);
  });

  test('S2-21, Z2-3: the third answer takes what to change, or nothing', async () => {
    const told = await play(
      confirmation,
      [/change$/, '3', keys.enter],
      ['to go back', 'cheaper', keys.enter],
    );
    expect(told.answers).toEqual(
      answered({ key: 'field', optionIds: ['no_with_feedback'], text: 'cheaper' }),
    );
    const untold = await play(
      confirmation,
      [/change$/, '3', keys.enter],
      ['to go back', keys.enter],
    );
    expect(untold.answers).toEqual(answered({ key: 'field', optionIds: ['no_with_feedback'] }));
  });
});

/* The entry that stands last when all answers are shown once more. */
const lastLook = /❯ 1\. Send\n(?: {4}\d+\. Change .*\n?)+$/;

describe('a form', () => {
  const city = field([], {
    key: 'city',
    label: 'City',
    options: [
      { id: 'paris', label: 'Paris', description: 'in France' },
      { id: 'rome', label: 'Rome', description: 'in Italy' },
    ],
  });
  const name = field([], { key: 'name', label: 'Name', freeText: 'only' });
  const form = question([city, name], { kind: 'form', text: 'Where to?' });

  test('is asked field by field', async () => {
    const { answers, frames } = await play(
      form,
      ['in Italy', '2'],
      ['to go back', 'Ann', keys.enter],
      [lastLook, keys.enter],
    );
    expect(frames[0]).toBe(goldenFrames.form);
    expect(frames[1]).toMatch(/^Name · 2\/2\n\nEnter your response: ▏\n/);
    expect(frames[1]).toContain('Enter to continue, Ctrl+J for a new line');
    expect(answers).toEqual(
      answered({ key: 'city', optionIds: ['rome'] }, { key: 'name', optionIds: [], text: 'Ann' }),
    );
  });

  test('has a way back, where the answer before is highlighted', async () => {
    const { answers, frames } = await play(
      question([city, { ...city, key: 'then' }, name], { kind: 'form', text: '' }),
      ['in Italy', '2'],
      ['in Italy', '1'],
      ['to go back', keys.escape],
      ['in Italy', keys.left],
      [/Paris\n {7}in France\n {2}❯ 2. Rome/, '1'],
      ['in Italy', keys.shiftTab],
      ['in Italy', keys.enter],
      ['in Italy', keys.escape],
      ['in Italy', keys.enter],
      ['in Italy', keys.down, keys.enter],
      ['to go back', 'Ann', keys.enter],
      [lastLook, keys.enter],
    );
    expect(frames[0]).toMatch(/^City · 1\/3\n/);
    expect(answers).toEqual(
      answered(
        { key: 'city', optionIds: ['paris'] },
        { key: 'then', optionIds: ['rome'] },
        { key: 'name', optionIds: [], text: 'Ann' },
      ),
    );
  });

  test('shows the answers once more before they go, and lets one of them be changed', async () => {
    const { answers, frames, screen } = await play(
      form,
      ['in Italy', '2'],
      ['to go back', 'Ann', keys.enter],
      [lastLook, '2', keys.enter],
      ['in Italy', '1'],
      [lastLook, keys.left],
      ['to go back', ' Lee', keys.enter],
      [lastLook, keys.enter],
    );
    expect(frames[2]).toBe(`\
Where to?

City: Rome
Name: Ann

  Use ↑/↓ or j/k to navigate, Enter to select, ← to go back

  ❯ 1. Send
    2. Change City
    3. Change Name`);
    expect(frames[3]).toContain('  ❯ 2. Rome');
    expect(frames[4]).toContain('City: Paris\nName: Ann\n');
    expect(frames[5]).toContain('Enter your response: Ann▏');
    expect(answers).toEqual(
      answered(
        { key: 'city', optionIds: ['paris'] },
        { key: 'name', optionIds: [], text: 'Ann Lee' },
      ),
    );
    expect(screen).toBe('Where to?\n\nCity: Paris\nName: Ann Lee\n\n  ✓ Send\n');
  });

  test('the last look is not sent by a digit too many, nor by a line that was meant for something else', async () => {
    const { answers, frames } = await play(
      form,
      ['in Italy', '1'],
      ['to go back', 'Ann', keys.enter],
      [lastLook, '1', 'o', 'k', keys.enter],
      [/use ↑/, keys.left],
      ['to go back', keys.enter],
      [lastLook, keys.enter],
    );
    expect(frames[3]).toContain('  ❯ 1. Send\n');
    expect(answers).toMatchObject(
      answered({ key: 'city', optionIds: ['paris'] }, { key: 'name', optionIds: [], text: 'Ann' }),
    );
  });

  test('← goes back in a confirmation of several fields (regression: it was taken for text)', async () => {
    const sure = [
      { id: 'yes', label: 'Yes' },
      { id: 'no', label: 'No' },
    ];
    const fields = ['First', 'Second'].map((label) =>
      field([], { key: label, label, options: sure }),
    );
    const { answers } = await play(
      question(fields, { kind: 'confirmation', text: 'Sure?' }),
      [/First · 1\/2[^]*No$/, keys.up, keys.enter],
      [/Second · 2\/2[^]*No$/, keys.left],
      [/First · 1\/2[^]*No$/, keys.down, keys.enter],
      [/Second · 2\/2[^]*No$/, keys.enter],
      [lastLook, keys.enter],
    );
    expect(answers).toMatchObject(
      answered({ key: 'First', optionIds: ['no'] }, { key: 'Second', optionIds: ['no'] }),
    );
  });

  test('going back keeps what was ticked and typed, and leaves nothing of it on the screen', async () => {
    const stops = field(['Lyon', 'Turin', 'Basel'], { key: 'stops', label: 'Stops', max: 3 });
    const { answers, frames } = await play(
      question([city, stops, name], { kind: 'form', text: 'Where to?' }),
      ['in Italy', '2'],
      [/Basel$/, '1', '3', keys.left],
      ['in Italy', keys.enter],
      [/Basel$/, keys.enter],
      ['to go back', 'An', keys.escape],
      [/Basel$/, keys.enter],
      ['to go back', 'n', keys.enter],
      [lastLook, keys.enter],
    );
    expect(frames[2]).toMatch(/^City|^Where/);
    expect(frames[2]).not.toMatch(/Stops|✓|Lyon/);
    expect(frames[3]).toContain('1. [x] Lyon\n    2. [ ] Turin\n    3. [x] Basel');
    expect(frames[3]?.match(/Stops/g)).toHaveLength(1);
    expect(frames[6]).toContain('Enter your response: An▏');
    expect(frames[7]).toContain('City: Rome\nStops: Lyon, Basel\nName: Ann\n');
    expect(answers).toMatchObject([{ status: 'answered' }]);
  });

  test('says send only where it sends', async () => {
    const several = field(['A', 'B'], { key: 'several', label: 'Several', max: 2 });
    const { frames } = await play(
      question([several, name], { kind: 'form' }),
      [/B$/, '1', keys.enter],
      ['to go back', 'Ann', keys.enter],
      [lastLook, keys.enter],
    );
    expect(frames[0]).toContain('Enter to continue');
    expect(frames[1]).toContain('Enter to continue');
    expect([frames[0], frames[1]].join()).not.toMatch(/send/i);
  });

  test('S1-08: shows the header of each question, and its place', async () => {
    const asked = ['Database', 'Cache'].map((key) =>
      field(['Yes', 'No'], { key, label: `Which ${key.toLowerCase()}?` }),
    );
    const { frames } = await play(
      question(asked, { kind: 'form', text: 'Which database?\nWhich cache?' }),
      [/No$/, '1'],
      [/No$/, '2'],
      [lastLook, keys.enter],
    );
    expect(frames[0]).toMatch(/^Database · 1\/2\nWhich database\?\n\n/);
    expect(frames[1]).toMatch(/^Cache · 2\/2\nWhich cache\?\n\n/);
    expect(frames[2]).toContain('Database: Yes\nCache: No\n');
    const one = field(['Yes', 'No'], { key: 'Database', label: 'Which database?' });
    const single = await play(question(one, { text: 'Which database?' }), [/No$/, '1']);
    expect(single.frames[0]).toMatch(/^Database\nWhich database\?\n\n/);
  });

  test('X-06: keys and ids that are names of every object’s are keys and ids', async () => {
    const options = [{ id: '__proto__', label: 'A' }];
    const { answers } = await play(question(field([], { key: 'constructor', options })), [
      'A',
      '1',
    ]);
    expect(answers).toEqual(answered({ key: 'constructor', optionIds: ['__proto__'] }));
  });
});

describe('without an answer', () => {
  const two = [question(field(['A'])), question(field(['B']), { requestId: 'second' })];
  const second = { type: 'question-response', requestId: 'second', status: 'answered' };

  test('Ctrl+C dismisses what may be dismissed, and the next one is asked', async () => {
    const { answers } = await play(two, ['❯ 1. A', keys.control('c')], ['❯ 1. B', '1']);
    expect(answers).toMatchObject([dismissed, second]);
  });

  test('Ctrl+D is the end of the input: it dismisses, and ends the asking', async () => {
    const { answers } = await play(two, ['❯ 1. A', keys.control('d')]);
    expect(answers).toEqual([dismissed]);
  });

  test('what may not be dismissed stays open, and ends the asking', async () => {
    const open = two.map((request) => ({ ...request, allowDismiss: false }));
    const { answers } = await play(open, ['❯ 1. A', keys.control('c')]);
    expect(answers).toEqual([]);
  });

  test('a dismissed form is dismissed whole', async () => {
    const form = question([field(['A']), field(['B'], { key: 'b' })], { kind: 'form' });
    const { answers } = await play(form, ['❯ 1. A', '1'], ['❯ 1. B', keys.control('c')]);
    expect(answers).toEqual([dismissed]);
  });

  test.each([
    ['Ctrl+C', keys.control('c')],
    ['Ctrl+D', keys.control('d')],
  ])('one line says that %s dismissed it', async (_name, key) => {
    const { screen } = await play(question(field(['A'])), ['❯ 1. A', key]);
    expect(screen).toBe('Which one?\n\n  ✗ Dismissed: no answer was given\n');
  });

  test('one line says that it stays open', async () => {
    const open = question(field(['A']), { allowDismiss: false });
    const { screen } = await play(open, ['❯ 1. A', keys.control('c')]);
    expect(screen).toBe('Which one?\n\n  ✗ Left open: nothing was answered\n');
  });

  test('Esc and q are no answer', async () => {
    const { answers } = await play(question(field(['A'])), ['❯ 1. A', keys.escape, 'q', '1']);
    expect(answers).toMatchObject([{ status: 'answered' }]);
  });
});

test('a question that no answer could fit is refused before anything is shown', async () => {
  const terminal = new VirtualTerminal();
  const asking = askInTerminal([approval(), question(field([]))], terminal);
  await expect(asking).rejects.toMatchObject({ code: 'invalid-input' });
  expect(terminal.output.written).toBe('');
});

describe('a text with a type', () => {
  const seats = { type: 'integer', minimum: 1, maximum: 10 } as const;
  const asked = field([], { freeText: 'only', min: 0, max: 0, schema: seats });

  test('is checked before it is sent, and what was typed stays', async () => {
    const { answers, frames } = await play(
      question(asked),
      ['for a new line', 'eleven', keys.enter],
      [
        /It must be an integer from 1 to 10\s+Enter to send, Ctrl\+J for a new line/,
        keys.control('u'),
        '7',
        keys.enter,
      ],
    );
    expect(frames[0]).toContain('an integer from 1 to 10');
    expect(frames[1]).toContain('eleven');
    expect(frames[1]).toContain('It must be an integer from 1 to 10');
    expect(answers).toEqual(answered({ key: 'field', optionIds: [], text: '7' }));
  });

  test('may be left out where it is not required', async () => {
    const optional = question({ ...asked, required: false });
    const { answers, frames } = await play(optional, ['for a new line', keys.enter]);
    expect(frames[0]).toContain('an integer from 1 to 10, optional');
    expect(answers).toEqual(answered({ key: 'field', optionIds: [] }));
  });

  test('is not asked for once the question is declined', async () => {
    const reply = field(['Answer'], { key: 'reply', label: 'Reply' });
    reply.options.push({ id: 'decline', label: 'Decline', declines: true });
    const { answers } = await play(
      { ...question(reply), kind: 'form', fields: [reply, asked] },
      ['Decline', '2'],
      ['Change field', keys.enter],
    );
    expect(answers).toEqual(
      answered({ key: 'reply', optionIds: ['decline'] }, { key: 'field', optionIds: [] }),
    );
  });
});
