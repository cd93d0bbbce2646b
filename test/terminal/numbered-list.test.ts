import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import {
  askInTerminal,
  getUserChoice,
  terminalUserInterface,
  type UserInterface,
} from 'holdpoint/terminal';
import { describe, expect, test } from 'vitest';
import { goldenFrames } from './golden-frames.ts';
import { approval, field, question, refactoring } from './requests.ts';
import { readingTime, VirtualOutput, VirtualTerminal } from './virtual-terminal.ts';
import { waitUntil } from '../support/waiting.ts';

/** A person who answers lines, and what they were shown. */
function person(...lines: string[]): UserInterface & { shown: string } {
  const user = {
    shown: '',
    print(text: string): void {
      user.shown += `${text}\n`;
    },
    async readLine(prompt: string): Promise<string | undefined> {
      user.shown += prompt;
      return lines.shift();
    },
  };
  return user;
}

/** Pipes instead of a terminal, whose lines may answer; what is in the pipe is there from the beginning. */
function pipes(text: string) {
  const input = new PassThrough();
  input.end(text);
  const output = Object.assign(new VirtualOutput(), { isTTY: false });
  return { input, output, acceptLines: true };
}

/** What one approval comes to, by lines in a pipe. */
async function approved(text: string): Promise<boolean | undefined> {
  const [answer] = await askInTerminal(approval(), pipes(text));
  return answer?.type === 'approval-response' ? answer.approved : undefined;
}

/** What is written for a request that the first entry answers. */
async function shownFor(request: Parameters<typeof askInTerminal>[0]): Promise<string> {
  const streams = pipes('1\n');
  await askInTerminal(request, streams);
  return streams.output.written;
}

const { question: asked, options } = refactoring;

describe('an interface without getUserChoice', () => {
  test('S4-24, S4-25: is asked by the numbered list of the seed', async () => {
    const user = person('2');
    expect(await getUserChoice(user, asked, options)).toBe('Show me a diff first');
    expect(user.shown).toBe(goldenFrames.numbered);
  });

  test.each([
    ['a number is the option', ['3'], 'Create a separate branch'],
    ['a number is trimmed', ['  1 '], 'Apply the changes now'],
    ['the number after the last asks for text', ['5', 'with tests'], 'with tests'],
    ['that text may read like a number', ['5', '2'], '2'],
    ['anything else is the text', ['with tests'], 'with tests'],
    ['a number out of range is the text', ['17'], '17'],
    ['so is 0', ['0'], '0'],
    ['and -1, and 1.5', ['-1'], '-1'],
    ['the text of an option is text, and the same', ['Cancel'], 'Cancel'],
    ['Z4-7: an empty line is asked again', ['', '  ', '4'], 'Cancel'],
    ['Z4-7: also of the text', ['5', '', 'x'], 'x'],
    ['Z4-6, S4-31: the end of the input cancels', [], 'cancelled'],
    ['Z4-6: also at the text', ['5'], 'cancelled'],
  ])('O4-07: %s', async (_name, lines, expected) => {
    expect(await getUserChoice(person(...lines), asked, options)).toBe(expected);
  });

  test('O4-07: the text is asked for by the words of the seed', async () => {
    const user = person('5', 'x');
    await getUserChoice(user, asked, options);
    expect(user.shown).toBe(`${goldenFrames.numbered}Enter your response: `);
  });

  test('X-05: is given nothing that acts', async () => {
    const user = person('1');
    const nasty = 'a\u001B[2J\nb';
    expect(await getUserChoice(user, `Q\u202E\n  1. No`, [nasty])).toBe(nasty);
    expect(user.shown).toContain('Q\\u{202e}\n│   1. No\n\n  1. a\\u{1b}[2J\\u{a}b\n');
  });
});

test('S4-22: an interface with getUserChoice is asked by it', async () => {
  const user: UserInterface = {
    ...person(),
    getUserChoice: async (_question, [first = '']) => first,
  };
  expect(await getUserChoice(user, asked, options)).toBe('Apply the changes now');
});

describe('Z4-5: a terminal that is a pipe', () => {
  test('is asked by the numbered list', async () => {
    const streams = pipes('2\n');
    const choice = await terminalUserInterface(streams).getUserChoice(asked, options);
    expect(choice).toBe('Show me a diff first');
    expect(streams.output.written).toBe(`${goldenFrames.numbered}2\n`);
  });

  test('gives line after line, also to who reads next', async () => {
    const streams = pipes('1\n5\r\nö東\nlast, without an end');
    const user = terminalUserInterface(streams);
    expect(await user.getUserChoice(asked, options)).toBe('Apply the changes now');
    expect(await user.getUserChoice(asked, options)).toBe('ö東');
    expect(await user.readLine('> ')).toBe('last, without an end');
    expect(await user.readLine('> ')).toBeUndefined();
    expect(await user.getUserChoice(asked, options)).toBe('cancelled');
    expect(streams.input.eventNames().filter((name) => name === 'data')).toEqual([]);
  });

  test('approves only by the word', async () => {
    for (const yes of ['approve\n', ' APPROVE \n', 'Approve\n', '\n\nok\ntrue\napprove\n']) {
      expect(await approved(yes), `after ${JSON.stringify(yes)}`).toBe(true);
    }
    for (const no of ['2\n', 'reject\n', 'n\n', '3\ntoo dear\n', 'Reject with a reason\nno\n'])
      expect(await approved(no), `after ${JSON.stringify(no)}`).toBe(false);
    for (const open of [
      '',
      '\n',
      '1\n',
      'y\n',
      'Yes\n',
      '\n\nok\ntrue\n1\n',
      'yess\n',
      'Decide later\n',
      '4\n',
      'later\n',
      '0\n',
      '01x\n',
      '11\n',
      'approved\n',
    ]) {
      expect(await approved(open), `after ${JSON.stringify(open)}`).toBeUndefined();
    }
  });

  test('shows all of a call, folding nothing', async () => {
    const streams = pipes('');
    const body = `${'x'.repeat(5_000)}the end`;
    const toolCall = { toolCallId: 'c', toolName: 'send', input: { body } };
    await askInTerminal(approval({ toolCall }), streams);
    expect(streams.output.written).toContain(`    body: "${body}"`);
    expect(streams.output.written).toContain(
      '  1. Approve\n  2. Reject\n  3. Reject with a reason\n  4. Decide later\n',
    );
  });

  test('tells the reason of a rejection', async () => {
    expect(await askInTerminal(approval(), pipes('3\n\ntoo dear\n'))).toMatchObject([
      { approved: false, reason: 'too dear' },
    ]);
  });

  test('takes several numbers where several may be picked', async () => {
    const several = question(field(['A', 'B', 'C'], { max: 2 }));
    const ids = async (text: string) => {
      const [answer] = await askInTerminal(several, pipes(text));
      return answer?.type === 'question-response' && answer.status === 'answered'
        ? answer.answers[0]?.optionIds
        : answer;
    };
    expect(await ids('1,3\n')).toEqual(['option-0', 'option-2']);
    expect(await ids('\n1,2,3\n4\nB\n2, 2\n')).toEqual(['option-1']);
  });

  test('asks again where text is not taken', async () => {
    const streams = pipes('C\n3\n2\n');
    expect(await askInTerminal(question(field(['A', 'B'])), streams)).toMatchObject([
      { answers: [{ key: 'field', optionIds: ['option-1'] }] },
    ]);
    expect(streams.output.written).toContain('Type a number from 1 to 2.');
  });

  test('takes the exact label of an option, but no label that two of them have', async () => {
    const labels = ['A', 'B, and more', 'twin', 'twin', '7'];
    const ids = async (text: string, more = {}) => {
      const [answer] = await askInTerminal(question(field(labels, more)), pipes(text));
      return answer?.type === 'question-response' && answer.status === 'answered'
        ? answer.answers[0]
        : answer;
    };
    const optional = { freeText: 'optional' };
    expect(await ids('twin\na\n B, and more \n')).toMatchObject({ optionIds: ['option-1'] });
    expect(await ids('7\n')).toMatchObject({ optionIds: ['option-4'] });
    expect(await ids('B, and more\n', { max: 3 })).toMatchObject({ optionIds: ['option-1'] });
    expect(await ids('A,7\n', { max: 3 })).toMatchObject({ optionIds: ['option-0', 'option-4'] });
    expect(await ids('A\n', optional)).toEqual({ key: 'field', optionIds: ['option-0'] });
    expect(await ids('Say something else...\nmine\n', optional)).toMatchObject({ text: 'mine' });
  });

  test('asks again what is the number of one option and the label of another (regression: 2 picked 3)', async () => {
    const seats = question(field(['2', '3', '1, or none']));
    const streams = pipes('2\n2.\n');
    expect(await askInTerminal(seats, streams)).toMatchObject([
      { answers: [{ optionIds: ['option-1'] }] },
    ]);
    expect(streams.output.written).toContain(
      '2 could be any of several. Type a number with its dot: 1. or 2.\n',
    );
    const several = question(field(['2', '3', '4'], { max: 2 }));
    expect(await askInTerminal(several, pipes('2,4\n1.,4\n'))).toMatchObject([
      { answers: [{ optionIds: ['option-0', 'option-2'] }] },
    ]);
    expect(await askInTerminal(question(field(['1', '2'])), pipes('2\n'))).toMatchObject([
      { answers: [{ optionIds: ['option-1'] }] },
    ]);
  });

  test('an option called n or y is picked by that, where nothing is decided', async () => {
    const letters = question(field(['y', 'n']));
    expect(await askInTerminal(letters, pipes('n\n'))).toMatchObject([
      { answers: [{ optionIds: ['option-1'] }] },
    ]);
  });

  test('a no that is labelled Yes is not picked by either word (regression: yes said no)', async () => {
    const crossed = [
      { id: 'yes', label: 'No' },
      { id: 'no', label: 'Yes' },
    ];
    const confirmation = question(field([], { options: crossed }), { kind: 'confirmation' });
    const streams = pipes('Yes\nno\n2\n');
    expect(await askInTerminal(confirmation, streams)).toMatchObject([
      { answers: [{ optionIds: ['no'] }] },
    ]);
    expect(streams.output.written).toContain('Yes could be any of several.');
  });

  test('a number out of range is no text where several may be picked (regression: it was the answer)', async () => {
    const several = question(field(['A', 'B', 'C'], { max: 2, freeText: 'optional' }));
    const answer = async (text: string) => {
      const [response] = await askInTerminal(several, pipes(text));
      return response?.type === 'question-response' && response.status === 'answered'
        ? response.answers[0]
        : response;
    };
    expect(await answer('1, 9\n1, 2\n')).toMatchObject({ optionIds: ['option-0', 'option-1'] });
    expect(await answer('4\n1, 9\n')).toMatchObject({ optionIds: [], text: '1, 9' });
  });

  test('takes y and n for a confirmation', async () => {
    const yesAndNo = [
      { id: 'yes', label: 'Go ahead' },
      { id: 'no', label: 'Stop' },
    ];
    const confirmation = question(field([], { options: yesAndNo }), { kind: 'confirmation' });
    for (const [line, id] of [
      ['y', 'yes'],
      ['n', 'no'],
      ['Go ahead', 'yes'],
    ]) {
      const answers = await askInTerminal(confirmation, pipes(`${line}\n`));
      expect(answers).toMatchObject([{ answers: [{ optionIds: [id] }] }]);
    }
  });

  test('asks for text only where text is taken', async () => {
    expect(await shownFor(approval())).toContain(
      'Enter your choice (number, approve, reject or label): ',
    );
    expect(await shownFor(question(field(['A'])))).toContain(
      'Enter your choice (number or label): ',
    );
    expect(await shownFor(question(field(['A', 'B'], { max: 2 })))).toContain(
      'Enter your choices (numbers with commas): ',
    );
    expect(await shownFor(question(field(['A'], { freeText: 'optional' })))).toContain(
      'Enter your choice (number or text): ',
    );
  });

  test('shows the answers of a form once more, and lets one of them be changed', async () => {
    const fields = ['City', 'Day'].map((label) =>
      field(['One', 'Two'], { key: label.toLowerCase(), label }),
    );
    const streams = pipes('1\n1\n3\n2\ny\n');
    const answers = await askInTerminal(question(fields, { kind: 'form' }), streams);
    expect(streams.output.written).toContain(
      'City: One\nDay: Two\n\n  1. Send\n  2. Change City\n',
    );
    expect(answers).toMatchObject([
      { answers: [{ optionIds: ['option-0'] }, { optionIds: ['option-1'] }] },
    ]);
  });

  test('one line says that a question was dismissed', async () => {
    const streams = pipes('');
    await askInTerminal(question(field(['A'])), streams);
    expect(streams.output.written).toMatch(/\n {2}✗ Dismissed: no answer was given\n$/);
  });

  test('the end of the input dismisses what may be dismissed, and ends the asking', async () => {
    const [first, second] = [
      question(field(['A'])),
      question(field(['B']), { requestId: 'second' }),
    ];
    expect(await askInTerminal([first, second], pipes(''))).toEqual([
      { type: 'question-response', requestId: 'question-1', status: 'dismissed' },
    ]);
    expect(await askInTerminal({ ...first, allowDismiss: false }, pipes(''))).toEqual([]);
  });

  test('a signal ends the asking with its reason', async () => {
    const input = new PassThrough();
    const controller = new AbortController();
    const { output } = pipes('');
    const asking = askInTerminal(approval(), {
      input,
      output,
      acceptLines: true,
      signal: controller.signal,
    });
    await waitUntil(() => output.written.endsWith('or label): '), { interval: 1 });
    controller.abort();
    await expect(asking).rejects.toThrow('aborted');
    expect(output.written).toMatch(/\n {2}✗ Closed: this is no longer asked here\n$/);
    expect(input.listenerCount('data') + input.listenerCount('end')).toBe(0);
  });

  test('asked from two places at once, each takes a line of its own (regression: one line approved both)', async () => {
    const streams = pipes('approve\n2\n');
    const [one, other] = ['a', 'b'].map((requestId) =>
      askInTerminal(approval({ requestId }), streams),
    );
    expect(await one).toMatchObject([{ requestId: 'a', approved: true }]);
    expect(await other).toMatchObject([{ requestId: 'b', approved: false }]);
  });

  test('at a terminal without frames, what was typed before the prompt does not answer it (regression: it approved)', async () => {
    const terminal = new VirtualTerminal();
    const { input, output } = terminal;
    output.isTTY = false;
    const typed = question(field([], { freeText: 'only' }));
    input.write('1\n');
    const asking = askInTerminal([approval(), typed, approval({ requestId: 'b' })], {
      input,
      output,
    });
    const prompts = async (count: number): Promise<void> => {
      const prompt = /Enter your (?:choice|response)[^:]*: /;
      await waitUntil(() => output.written.split(prompt).length > count);
      terminal.passes(readingTime);
    };
    await prompts(1);
    input.write('2\n');
    await prompts(2);
    input.write('one\n1\n');
    await prompts(3);
    input.write('2\n');
    expect(await asking).toMatchObject([
      { requestId: 'approval-1', approved: false },
      { answers: [{ text: 'one' }] },
      { requestId: 'b', approved: false },
    ]);
    expect(input.listenerCount('data')).toBe(0);
  });

  test('what could not be written is not approved by what stands in the pipe (regression: it was)', async () => {
    const { input } = pipes('approve\n');
    const output = new Writable({ write: (_chunk, _encoding, done) => done(new Error('EPIPE')) });
    expect(
      await askInTerminal([approval(), question(field(['A']))], {
        input,
        output,
        acceptLines: true,
      }),
    ).toEqual([]);
    expect(output.listenerCount('error') + output.listenerCount('close')).toBe(0);
  });

  test('a pipe that breaks says nothing in anybody’s name', async () => {
    const input = new PassThrough();
    const { output } = pipes('');
    const asking = askInTerminal(question(field(['A'])), { input, output, acceptLines: true });
    await waitUntil(() => output.written.includes('Enter your choice'));
    input.destroy(new Error('EIO'));
    expect(await asking).toEqual([]);
  });
});

test('a process whose pipe stays open ends after the answer (regression: it read on, and lived)', async () => {
  const program = join(import.meta.dirname, 'asking-process.ts');
  const child = spawn(process.execPath, ['--conditions=holdpoint-source', program, 'choice'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.write('2\n');
  const [code] = await once(child, 'exit');
  expect(code).toBe(0);
}, 20_000);
