import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..');

/** Runs README's first file in a project of its own. */
async function runPasted(code: string): Promise<string> {
  const project = await mkdtemp(join(tmpdir(), 'holdpoint-readme-'));
  try {
    await writeFile(join(project, 'package.json'), '{ "type": "commonjs" }');
    await writeFile(join(project, 'pay.mts'), code);
    await mkdir(join(project, 'node_modules'));
    await symlink(root, join(project, 'node_modules/holdpoint'));
    for (const name of ['ai', 'zod']) {
      await symlink(join(root, 'node_modules', name), join(project, 'node_modules', name));
    }
    const parameters = ['--conditions=holdpoint-source', 'pay.mts'];
    const options = { cwd: project, encoding: 'utf8', stdio: 'pipe' } as const;
    return execFileSync(process.execPath, parameters, options);
  } finally {
    await rm(project, { recursive: true });
  }
}

test("README's first file prints what README says, when it is pasted into a project", async () => {
  const readme = await readFile(join(root, 'README.md'), 'utf8');
  const [, code = '', output] = /```ts\n(.*?)```\n+```text\n(.*?)```/s.exec(readme) ?? [];
  expect(await runPasted(code)).toBe(output);
});

test.each([
  ['as it is', 'euros'],
  ['with the name of a field that the tool does not have', 'amount'],
])("README's rule, pasted into that file %s, asks before it pays", async (_how, field) => {
  const readme = await readFile(join(root, 'README.md'), 'utf8');
  const [, code = '', output] = /```ts\n(.*?)```\n+```text\n(.*?)```/s.exec(readme) ?? [];
  const [, section = ''] = readme.split('## Ask only above an amount\n');
  const [rule = ''] = /^const agent = .*?^}\);/ms.exec(section) ?? [];
  const pasted = code.replace(/^const agent = .*;$/m, rule.replaceAll('euros', field));
  expect(rule).toContain('euros');
  expect(pasted).not.toBe(code);
  expect(await runPasted(pasted)).toBe(output);
});
