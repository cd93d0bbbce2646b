import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..');

test("README's first file prints what README says, when it is pasted into a project", async () => {
  const readme = await readFile(join(root, 'README.md'), 'utf8');
  const [, code = '', output] = /```ts\n(.*?)```\n+```text\n(.*?)```/s.exec(readme) ?? [];
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
    const options = { cwd: project, encoding: 'utf8' } as const;
    expect(execFileSync(process.execPath, parameters, options)).toBe(output);
  } finally {
    await rm(project, { recursive: true });
  }
});
