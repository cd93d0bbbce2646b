import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { askInTerminal, renderCall, renderRequest } from 'holdpoint/terminal';
import { expect, test } from 'vitest';
import { approval, field, question } from './requests.ts';

const now = Date.parse('2026-11-27T13:00:00Z');
const reader = { now: () => now, timeZone: 'Europe/Paris' };

/** What `askInTerminal` prints line by line before it reads an answer. */
async function printLines(request: ReturnType<typeof approval>): Promise<string> {
  const input = new PassThrough();
  const output = new PassThrough();
  const asking = askInTerminal(request, { input, output, acceptLines: true, ...reader });
  input.end();
  await asking;
  output.end();
  const printed = await text(output);
  return printed.split('\n  1. ')[0]?.trimEnd() ?? '';
}

test('a request as text is what the terminal prints line by line', async () => {
  const request = approval({
    toolCall: {
      toolCallId: 'call-1',
      toolName: 'mail',
      input: { to: 'info@раypal.com', body: `a\u202Eb\n${'long '.repeat(100)}`, deep: [{ a: 1 }] },
    },
    requestedBy: 'ada',
    risk: 'high',
    expiresAt: now + 7_200_000,
  });
  const shown = renderRequest(request, reader);
  expect(shown).toBe(await printLines(request));
  expect(shown).toContain('Until: Fri 27 Nov, 16:00 CET (in 2 h), then it is denied');
  expect(shown).toContain('a\\u{202e}b');
  expect(shown).toContain('long '.repeat(99));
  expect(shown).toContain('"раypal" mixes Latin and Cyrillic letters');
});

test('a question as text has the ids of its options, and no label imitates one', () => {
  const options = [
    { id: 'a b', label: 'One\n    two: Two', description: 'The first.' },
    { id: 'c', label: 'Three' },
  ];
  const asked = question([
    field([], { key: 'which', label: 'Which?', options, preselected: ['c'], max: 2 }),
    field([], { key: 'why', label: 'Why?', freeText: 'only' }),
  ]);
  expect(renderRequest(asked).split('\n')).toEqual(
    expect.arrayContaining([
      '  which',
      '    "a b": One\\u{a}    two: Two (The first.)',
      '    c: Three, preselected',
      '    at most 2 of them',
      '  why',
      '    a text',
    ]),
  );
});

test('a call as text has its tool and every argument', () => {
  expect(renderCall({ toolName: 'pay', input: { to: 'ACME', euros: 500 } })).toBe(
    '  pay\n    to: "ACME"\n    euros: 500',
  );
});
