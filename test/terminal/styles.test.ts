import { PassThrough } from 'node:stream';
import { askInTerminal } from 'holdpoint/terminal';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { approval, field, question } from './requests.ts';
import { keys, VirtualTerminal } from './virtual-terminal.ts';

beforeEach(() => {
  vi.stubEnv('NO_COLOR', undefined);
  vi.stubEnv('FORCE_COLOR', undefined);
});
afterEach(() => vi.unstubAllEnvs());

/** What is written while an approval is asked, and left open, on a terminal or through pipes. */
async function writtenOnTerminal(): Promise<string> {
  const terminal = new VirtualTerminal();
  const asking = askInTerminal(approval(), terminal);
  await terminal.ends('Reject with a reason');
  await terminal.types(keys.escape);
  await asking;
  return terminal.output.written;
}

async function writtenToPipe(): Promise<string> {
  const { output } = new VirtualTerminal();
  output.isTTY = false;
  await askInTerminal(approval(), {
    output,
    input: new PassThrough().end(),
    acceptLines: true,
  });
  return output.written;
}

describe('styles', () => {
  const styled = '\u001B[1m';

  test.each([
    ['are there on a terminal', {}, writtenOnTerminal, true],
    ['are not there with NO_COLOR', { NO_COLOR: '1' }, writtenOnTerminal, false],
    ['are there with an empty NO_COLOR', { NO_COLOR: '' }, writtenOnTerminal, true],
    ['are not there in a pipe', {}, writtenToPipe, false],
    ['are there in a pipe with FORCE_COLOR', { FORCE_COLOR: '1' }, writtenToPipe, true],
  ])('%s', async (_name, environment, written, areThere) => {
    for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
    expect((await written()).includes(styled)).toBe(areThere);
  });

  test('are bold, italic and inverse alone: on one theme or another, a colour or dim text is hardly seen', async () => {
    const written = await writtenOfEachKind();
    const starts = [1, 3, 7];
    const ends = [22, 23, 27];
    // oxlint-disable-next-line no-control-regex
    const codes = Array.from(written.matchAll(/\u001B\[([\d;]*)m/g), ([, code]) => Number(code));
    expect([...new Set(codes)].toSorted((one, other) => one - other)).toEqual([...starts, ...ends]);
  });
});

/** What is written for requests with everything that stands out, or stands back, in a frame. */
async function writtenOfEachKind(): Promise<string> {
  const terminal = new VirtualTerminal({ columns: 80, rows: 30 });
  const { input, output } = terminal;
  const diff = `@@ -1 +1 @@\n-old\n+new\n${'same\n'.repeat(40)}`;
  const toolCall = { toolCallId: 'c', toolName: 'write', input: { to: 'раypal', body: diff } };
  const labels = Array.from({ length: 40 }, (_, index) => `Option ${index}`);
  const asked = field(labels, { preselected: ['option-0'], freeText: 'optional', max: 3 });
  const options = asked.options.map((option) => ({ ...option, description: 'It costs little.' }));
  const asking = askInTerminal(
    [approval({ toolCall }), question({ ...asked, options }, { kind: 'choice' })],
    { input, output, onLeave: 'keep' },
  );
  await terminal.ends('Reject with a reason');
  await terminal.types(keys.escape);
  await terminal.shows('(preselected)');
  await terminal.types(keys.end, keys.enter, 'text');
  await terminal.shows('text▏');
  await terminal.types(keys.control('c'));
  await asking;
  for (const text of ['1 of 2', 'Latin and Cyrillic', 'more lines', 'It costs little', '↓ 3']) {
    expect(output.written).toContain(text);
  }
  return terminal.output.written;
}
