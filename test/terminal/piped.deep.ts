import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { approve, type ApprovalRequest } from 'holdpoint';
import { askInTerminal } from 'holdpoint/terminal';
import { describe, expect, test, vi } from 'vitest';
import { errorCode } from '../support/error-code.ts';
import { book, memoryWorld } from '../support/travel-world.ts';
import { approval, field, question } from './requests.ts';
import { VirtualOutput } from './virtual-terminal.ts';
import { waitUntil } from '../support/waiting.ts';

/** Streams of a program whose input is a pipe that holds the text, and then ends. */
function pipe(text: string) {
  const output = Object.assign(new VirtualOutput(), { isTTY: false });
  return { input: new PassThrough().end(text), output };
}

/** What lines answer where the app accepts them. */
async function answered(request: Parameters<typeof askInTerminal>[0], ...lines: string[]) {
  const streams = pipe(lines.map((line) => `${line}\n`).join(''));
  return askInTerminal(request, { ...streams, acceptLines: true });
}

const program = join(import.meta.dirname, 'asking-process.ts');

/** Runs a program in a shell, where `app` asks about an approval; what it printed. */
async function printedBy(script: string): Promise<string> {
  const app = `'${process.execPath}' --conditions=holdpoint-source '${program}'`;
  const shell = spawn('bash', ['-c', `app() { ${app} "$@"; }\n${script}`], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let printed = '';
  for await (const chunk of shell.stdout) printed += String(chunk);
  return printed;
}

const yesses = [
  'y',
  'yes',
  'Y',
  '1',
  '1.',
  '',
  'true',
  'ok',
  'a',
  'appr',
  'approve all',
  'approved',
];

describe('an input that is not a terminal', () => {
  test('refuses to ask, with the option that lets lines answer', async () => {
    for (const text of ['approve\n', 'y\n'.repeat(1_000), '1\n', '']) {
      const streams = pipe(text);
      const asking = askInTerminal(approval(), streams);
      await expect(asking).rejects.toThrow(
        "askInTerminal can't ask about request approval-1: its input is not a terminal. Run the program in a terminal, or set " +
          'acceptLines: true if lines of a pipe may answer.',
      );
      expect(streams.output.written).toBe('');
      expect(await errorCode(askInTerminal(question(field(['A'])), pipe(text)))).toBe(
        'not-allowed',
      );
    }
  });

  test('has nothing to refuse if nothing is asked', async () => {
    expect(await askInTerminal([], pipe(''))).toEqual([]);
    const votes = [{ person: 'ada', at: 1 }];
    const voted = approval({ quorum: 2, votes });
    expect(await askInTerminal(voted, { ...pipe(''), person: 'ada' })).toEqual([]);
  });

  test.each([
    ['yes', 'yes | app approval'],
    ['yes 1', 'yes 1 | app approval'],
    ['yes approve', 'yes approve | app approval'],
    ['a here-document', 'app approval <<end\n1\ny\napprove\nend'],
    ['an empty input', 'app approval </dev/null'],
  ])('in a shell: %s approves nothing', async (_name, script) => {
    expect(await printedBy(script)).toMatch(/^error: not-allowed .*acceptLines/);
  });

  test('leaves the call open, and runs nothing', async () => {
    const world = memoryWorld([{ calls: [book('c1', 'Paris')] }, { text: 'Booked.' }]);
    const agent = world.agent();
    const thread = await agent.thread('t');
    const { userInputRequests } = await agent.run('Book', thread);
    await expect(askInTerminal(userInputRequests, pipe('approve\n'))).rejects.toThrow();
    expect(thread.activeRequests).toHaveLength(1);
    expect(world.ran).toEqual([]);
  });
});

describe('lines that may answer', () => {
  test('approve by the word alone', async () => {
    for (const line of ['approve', ' approve ', 'Approve']) {
      expect(await answered(approval(), line)).toEqual([approve(approval())]);
    }
    for (const line of yesses) {
      expect(await answered(approval(), ...Array(20).fill(line)), `after ${line}`).toEqual([]);
    }
    const all = await answered(
      [approval(), approval({ requestId: 'b' })],
      'y',
      '1',
      'approve',
      'y',
    );
    expect(all).toEqual([approve(approval())]);
  });

  test('reject by the word or the number, with a reason where they give one', async () => {
    expect(await answered(approval(), 'reject')).toMatchObject([{ approved: false }]);
    expect(await answered(approval(), '2')).toMatchObject([{ approved: false }]);
    expect(await answered(approval(), '3', 'too dear')).toMatchObject([
      { approved: false, reason: 'too dear' },
    ]);
  });

  test('a number that points at a yes needs the word', async () => {
    expect(await answered(approval(), '1', 'approve')).toEqual([approve(approval())]);
    expect(await answered(approval(), '1', 'y', 'reject')).toMatchObject([{ approved: false }]);
  });

  test('approve with a reason only after the word', async () => {
    const request = approval({ requireReason: true });
    expect(await answered(request, '1', 'It is due.', 'y', '1')).toEqual([]);
    expect(await answered(request, 'approve', 'It is due.')).toEqual([
      approve(request, { reason: 'It is due.' }),
    ]);
  });

  test('approve later calls, an edit, or a group only by the word', async () => {
    const kept = approval({ remember: { scope: 'thread', match: 'exact' } });
    const edited = approval({ editable: ['price'] });
    const alike = ['a', 'b'].map((requestId) => approval({ requestId, risk: 'low' }));
    const flows: [ApprovalRequest | ApprovalRequest[], string[]][] = [
      [kept, ['2', '1']],
      [edited, ['2', '1', '9', '1']],
      [alike, ['3', '1']],
    ];
    for (const [request, steps] of flows) {
      for (const line of yesses) {
        const answers = await answered(request, ...steps, ...Array(9).fill(line));
        expect(answers.filter((each) => 'approved' in each && each.approved)).toEqual([]);
      }
      const answers = await answered(request, ...steps, 'approve');
      expect(answers).toMatchObject([request].flat().map(() => ({ approved: true })));
    }
    expect(await answered(edited, '2', '1', '9', 'approve')).toEqual([
      approve(edited, { input: { flight: 'AF1234', price: 9 } }),
    ]);
  });

  test('numbers answer a question, which approves nothing', async () => {
    const requests = [question(field(['A', 'B'])), approval()];
    expect(await answered(requests, '1', '1', '1')).toMatchObject([
      { answers: [{ optionIds: ['option-0'] }] },
    ]);
  });

  test('wait until all of the request has been written', async () => {
    const writes: (() => void)[] = [];
    let shown = '';
    const output = new Writable({
      decodeStrings: false,
      write(chunk: string, _encoding, done) {
        shown += chunk;
        writes.push(done);
      },
    });
    const { input } = pipe('approve\n');
    const asking = askInTerminal(approval(), { input, output, acceptLines: true });
    const isOver = vi.fn<() => void>();
    void asking.then(isOver);
    while (!shown.includes('Enter your choice')) {
      await waitUntil(() => writes.length > 0, { interval: 1 });
      expect(isOver).not.toHaveBeenCalled();
      expect(input.readableFlowing).not.toBe(true);
      writes.shift()?.();
    }
    const writing = setInterval(() => writes.shift()?.(), 1);
    expect(await asking).toMatchObject([{ approved: true }]);
    clearInterval(writing);
  });

  test('approve nothing that could not be written, however late that shows', async () => {
    const output = new Writable({
      write: (chunk, _encoding, done) =>
        void setTimeout(done, 2, String(chunk).includes('bookFlight') ? new Error('EPIPE') : null),
    });
    const { input } = pipe('approve\n');
    expect(await askInTerminal(approval(), { input, output, acceptLines: true })).toEqual([]);
  });
});
