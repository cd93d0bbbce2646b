import { askInTerminal } from 'holdpoint/terminal';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { approval } from './requests.ts';
import { keys, VirtualTerminal } from './virtual-terminal.ts';

afterEach(() => vi.unstubAllEnvs());

/** A terminal on which a call with this text was shown. */
async function shown(body: string): Promise<VirtualTerminal> {
  const terminal = new VirtualTerminal();
  const toolCall = { toolCallId: 'c', toolName: 'write', input: { body } };
  const asking = askInTerminal(approval({ toolCall }), terminal);
  await terminal.ends('Reject with a reason');
  await terminal.types(keys.escape);
  await asking;
  return terminal;
}

test('code reads as code: indentation, one backslash, emoji whole; what deceives is visible', async () => {
  const { screen } = await shown('if (a) {\r\n\treturn /\\d+/;\n} // 👩‍🚀 \u202E\n');
  expect(screen).toContain(`\
    body:
    │ if (a) {
    │     return /\\d+/;
    │ } // 👩‍🚀 \\u{202e}
    │
`);
});

describe('a diff', () => {
  const diff = '--- a.ts\n+++ a.ts\n@@ -1,2 +1,2 @@\n same\n-old\n+new';
  const [bold, italic] = [1, 3].map((code) => `\u001B[${code}m`);

  test('has the lines stand out that come and go, and their signs say which', async () => {
    vi.stubEnv('NO_COLOR', undefined);
    vi.stubEnv('FORCE_COLOR', undefined);
    const { output, screen } = await shown(diff);
    expect(output.written).toContain(`│ ${bold}+new`);
    expect(output.written).toContain(`│ ${bold}-old`);
    expect(output.written).toContain(`│ ${italic}@@ -1,2 +1,2 @@`);
    expect(output.written).toContain('│  same');
    expect(screen).toContain('    │  same\n    │ -old\n    │ +new\n');
  });

  test('has none with NO_COLOR, and a list with dashes has none at all', async () => {
    vi.stubEnv('FORCE_COLOR', undefined);
    vi.stubEnv('NO_COLOR', '1');
    expect((await shown(diff)).output.written).not.toContain('\u001B[3');
    vi.stubEnv('NO_COLOR', undefined);
    const { written } = (await shown('- milk\n+ bread\n')).output;
    expect(written).toContain('│ - milk');
    expect(written).toContain('│ + bread');
  });
});
