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
    expect(frames[0]).toContain('  ❯ Postgres\n      a server\n    SQLite');
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
      'to send',
      'mine',
      keys.enter,
    ]);
    expect(only.answers).toEqual(answered({ key: 'field', optionIds: [], text: 'mine' }));
  });

  test('C-03: what is preselected is marked and highlighted, and is no answer', async () => {
    const asked = field(['A', 'B', 'C'], { preselected: ['option-1'] });
    const { answers, frames } = await play(question(asked), ['C', keys.down, keys.enter]);
    expect(frames[0]).toContain('    A\n  ❯ B (preselected)\n    C');
    expect(answers).toEqual(answered({ key: 'field', optionIds: ['option-2'] }));
  });

  test('none is an answer where none may be picked', async () => {
    const { answers } = await play(question(field(['A'], { min: 0 })), ['None of these', '2']);
    expect(answers).toEqual(answered({ key: 'field', optionIds: [] }));
  });
});

const some = (more = {}): QuestionRequestContent =>
  question(field(['Caching', 'Metrics', 'Tracing'], { max: 3, ...more }));

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

  test('takes text beside what is ticked', async () => {
    const { answers } = await play(
      some({ freeText: 'optional' }),
      ['Say something else...', '1', keys.up, ' '],
      ['to go back', 'x', keys.escape],
      ['Say something else...', keys.enter],
      ['to go back', 'and more', keys.enter],
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
    expect(frames[0]).toContain('    Yes\n  ❯ No\n    No — tell me what to change');
    expect(answers).toEqual(answered({ key: 'field', optionIds: ['no'] }));
  });

  test('is confirmed by its yes', async () => {
    const { answers } = await play(confirmation, [/change$/, '1']);
    expect(answers).toEqual(answered({ key: 'field', optionIds: ['yes'] }));
  });

  test('S2-21, Z2-3: the third answer takes what to change, or nothing', async () => {
    const told = await play(confirmation, [/change$/, '3'], ['to go back', 'cheaper', keys.enter]);
    expect(told.answers).toEqual(
      answered({ key: 'field', optionIds: ['no_with_feedback'], text: 'cheaper' }),
    );
    const untold = await play(confirmation, [/change$/, '3'], ['to go back', keys.enter]);
    expect(untold.answers).toEqual(answered({ key: 'field', optionIds: ['no_with_feedback'] }));
  });
});

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
    );
    expect(frames[0]).toBe(goldenFrames.form);
    expect(frames[1]).toContain('  ✓ Rome\n2/2 Name\n\nEnter your response: ▏');
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
      [/Paris\n {6}in France\n {2}❯ Rome/, '1'],
      ['in Italy', keys.shiftTab],
      ['in Italy', keys.enter],
      ['in Italy', keys.down, keys.enter],
      ['to go back', 'Ann', keys.enter],
    );
    expect(frames[0]).toMatch(/^1\/3 City\n/);
    expect(answers).toEqual(
      answered(
        { key: 'city', optionIds: ['paris'] },
        { key: 'then', optionIds: ['rome'] },
        { key: 'name', optionIds: [], text: 'Ann' },
      ),
    );
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
    const { answers } = await play(two, ['❯ A', keys.control('c')], ['❯ B', '1']);
    expect(answers).toMatchObject([dismissed, second]);
  });

  test('Ctrl+D is the end of the input: it dismisses, and ends the asking', async () => {
    const { answers } = await play(two, ['❯ A', keys.control('d')]);
    expect(answers).toEqual([dismissed]);
  });

  test('what may not be dismissed stays open, and ends the asking', async () => {
    const open = two.map((request) => ({ ...request, allowDismiss: false }));
    const { answers } = await play(open, ['❯ A', keys.control('c')]);
    expect(answers).toEqual([]);
  });

  test('a dismissed form is dismissed whole', async () => {
    const form = question([field(['A']), field(['B'], { key: 'b' })], { kind: 'form' });
    const { answers } = await play(form, ['❯ A', '1'], ['❯ B', keys.control('c')]);
    expect(answers).toEqual([dismissed]);
  });

  test('Esc and q are no answer', async () => {
    const { answers } = await play(question(field(['A'])), ['❯ A', keys.escape, 'q', '1']);
    expect(answers).toMatchObject([{ status: 'answered' }]);
  });
});

test('a question that no answer could fit is refused before anything is shown', async () => {
  const terminal = new VirtualTerminal();
  const asking = askInTerminal([approval(), question(field([]))], terminal);
  await expect(asking).rejects.toMatchObject({ code: 'invalid-input' });
  expect(terminal.output.written).toBe('');
});
