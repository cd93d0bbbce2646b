import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** The person's own editor, as the shell would run it; `undefined` if they have named none. */
export function findEditorCommand(): string | undefined {
  const { VISUAL: visual, EDITOR: editor } = process.env;
  return [visual, editor].find((command) => command !== undefined && command.trim() !== '');
}

/** Lets the person change a text in their editor. Resolves with the new text, or with `undefined` if the editor failed. */
export async function editInEditor(text: string, command: string): Promise<string | undefined> {
  /* Only this user can read the folder. */
  const folder = mkdtempSync(join(tmpdir(), 'holdpoint-'));
  const file = join(folder, 'input.txt');
  try {
    writeFileSync(file, text, { mode: 0o600 });
    const code = await runEditor(command, file);
    if (code !== 0) return undefined;
    const edited = readFileSync(file, 'utf8');
    /* Editors end the last line. */
    return text.endsWith('\n') ? edited : edited.replace(/\r?\n$/, '');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function runEditor(command: string, file: string): Promise<number | null> {
  const { promise, resolve } = Promise.withResolvers<number | null>();
  /* Through the shell: the command may have options, as `code --wait`. The file's name has no special characters. */
  const editor = spawn(`${command} "${file}"`, { shell: true, stdio: 'inherit' });
  editor.on('error', () => resolve(null)).on('close', resolve);
  return promise;
}
