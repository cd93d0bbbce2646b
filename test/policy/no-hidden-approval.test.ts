import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createAgent } from 'holdpoint';
import { expect, test } from 'vitest';
import { scriptedModel } from '../support/scripted-model.ts';

const source = join(import.meta.dirname, '..', '..', 'src');

const gateFiles = ['apps/command/gate*.ts', 'apps/command/local-*.ts', 'apps/gate/*.ts'];

/** The lines of files that read variables of the environment, or files. */
function readFrom(files: readonly string[]): string[] {
  const lines = files.flatMap((file) =>
    readFileSync(join(source, file), 'utf8')
      .split('\n')
      .filter((line) => !/^\s*(?:\*|\/\*)/.test(line))
      .filter((line) =>
        /process\.env|import\.meta\.env|Deno\.env|readFile|homedir|cwd\(\)/.test(line),
      )
      .map((line) => line.trim()),
  );
  return lines.toSorted();
}

/**
 * Row 43: an environment variable or a file that a prompt gets written must not approve anything. The person's own editor is given a
 * text, which they then have to approve.
 */
test('the source reads no environment variable but those of the screen, the editor and the store of a command, and no configuration file', () => {
  /* It makes the inbox's page, and is not in the package. A gate reads more: see below. */
  const exclude = ['**/build-page.ts', ...gateFiles];
  expect(readFrom(globSync('**/*.ts', { cwd: source, exclude }))).toEqual([
    "const edited = readFileSync(file, 'utf8');",
    /* The logs that `holdpoint verify` is told to check. */
    "const lines = (await readFile(file, 'utf8')).split('\\n').filter((line) => line.trim() !== '');",
    'const { NO_COLOR, FORCE_COLOR } = process.env;',
    'const { VISUAL: visual, EDITOR: editor } = process.env;',
    /* Of the command: where the store is. */
    'env: process.env,',
    "import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';",
    "import { readFile } from 'node:fs/promises';",
    "process.env['TERM'] !== 'dumb'",
  ]);
});

test('a gate reads the file that whoever starts it names, the key beside its store, and what it passes on to servers', () => {
  expect(readFrom(globSync(gateFiles, { cwd: source }))).toEqual([
    /* A server is another one in another folder. */
    '? await makeCommandConfig(args, options.inheritEnv, process.cwd())',
    /* Named by --config. */
    "const file = parseGateFile(path, await readFile(path, 'utf8'));",
    /* Where the store is. */
    "const folder = join(env['HOME'] || homedir(), '.holdpoint');",
    /* Passed on to a server. */
    "const inherited = (options.inheritEnv ?? []).map((name) => process.env[name] ?? '');",
    'const missing = options.inheritEnv?.find((variable) => process.env[variable] === undefined);',
    /* Tells callers apart. */
    'const place = caller.place ?? globalThis.process?.cwd();',
    /* The key of the page. */
    "const text = (await readFile(file, 'utf8')).trim();",
    /* Passed on to a server. */
    'const value = process.env[name];',
    /* Named by --rules. */
    "const { people = {} } = parseGateFile(path, await readFile(path, 'utf8'));",
    "import { homedir, userInfo } from 'node:os';",
    "import { link, readFile, rm, stat, writeFile } from 'node:fs/promises';",
    "import { readFile } from 'node:fs/promises';",
  ]);
});

test.each([
  'autoApprove',
  'alwaysAllow',
  'bypassPermissions',
  'yolo',
  'dangerouslySkipApprovals',
  'trustAllTools',
])('no option approves everything: %s is refused', (name) => {
  const { model } = scriptedModel([]);
  expect(() => createAgent({ model, [name]: true })).toThrow(TypeError);
});

/** Row 11: every answer passes the same checks, whatever it comes through. */
test('answers are recorded where input is accepted and weighed, and where a lost call is retried, and nowhere else', () => {
  const recording = globSync('**/*.ts', { cwd: source }).filter((file) =>
    /\{ type: 'request-(?:answered|voted)'[ ,]/.test(readFileSync(join(source, file), 'utf8')),
  );
  expect(recording.toSorted()).toEqual([
    'agent/acts/settle-call.ts',
    'agent/input/decide-input.ts',
    'agent/input/weigh-answer.ts',
  ]);
});
