import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { docBlocks } from '../package/doc-blocks.ts';

const root = join(import.meta.dirname, '..', '..');

/* The .oxlintrc.json of `npm create vite@9.3.0 -- --template react-ts`. */
const lintOfVite = {
  plugins: ['react', 'typescript', 'oxc'],
  rules: {
    'react/rules-of-hooks': 'error',
    'react/only-export-components': ['warn', { allowConstantExport: true }],
  },
};

test('the documented page and its server have no warning from the lint of a fresh vite app', () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdpoint-lint-'));
  try {
    mkdirSync(join(folder, 'src'));
    const files = docBlocks.filter(
      ({ name, file }) =>
        name.startsWith('docs/channels/page.md') && /^(server\.ts|[A-Z]\w+\.tsx)$/.test(file),
    );
    for (const { file, code } of files) {
      writeFileSync(join(folder, 'src', file), code.replace(/\nexport \{\};\n$/, ''));
    }
    writeFileSync(join(folder, '.oxlintrc.json'), JSON.stringify(lintOfVite));
    const oxlint = join(root, 'node_modules', '.bin', 'oxlint');
    const { stdout } = spawnSync(oxlint, ['--format=unix'], { cwd: folder, encoding: 'utf8' });
    expect(files.map(({ file }) => file)).toEqual(expect.arrayContaining(['server.ts', 'App.tsx']));
    expect(stdout.split('\n').filter((line) => line.includes('['))).toEqual([]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
