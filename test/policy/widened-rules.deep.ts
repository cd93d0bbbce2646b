import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..');

const code = `
import { tool } from 'ai';
import { createAgent, type ToolApprovalStatus } from 'holdpoint';
import { createCustomAgent } from 'holdpoint/custom-agent';
import { holdPoint } from 'holdpoint/middleware';
import { z } from 'zod';

const pay = tool({ inputSchema: z.object({ cents: z.number() }), execute: async () => 'Paid.' });
const base = { model: 'none', tools: { pay }, mayAnswer: () => true };

const kept = { type: 'user-approval', approvers: ['boss'] };
createAgent({ ...base, toolApproval: { pay: kept } });
const all = { pay: { type: 'user-approval', approvers: ['boss'] } };
createAgent({ ...base, toolApproval: all });
const name = { pay: 'user-approval' };
createAgent({ ...base, toolApproval: name });
const made = () => ({ type: 'user-approval', approvers: ['boss'] });
createAgent({ ...base, toolApproval: { pay: made } });
createAgent({ ...base, toolApproval: made });
holdPoint({ tools: { pay }, toolApproval: { pay: kept } });
createCustomAgent({ tools: { pay }, toolApproval: { pay: kept }, step: () => ({ text: '' }) });

const checked = {
  type: 'user-approval',
  approvers: ['boss'],
  editable: ['cents'],
} satisfies ToolApprovalStatus;
createAgent({ ...base, toolApproval: { pay: checked } });
createAgent({ ...base, toolApproval: { pay: () => checked } });
const fixed = { type: 'user-approval', approvers: ['boss'] } as const;
createAgent({ ...base, toolApproval: { pay: fixed } });
`;

/** What the compiler prints about a file of a project that has installed the package. */
function compile(text: string): string {
  const project = mkdtempSync(join(tmpdir(), 'widened-rules-'));
  try {
    const modules = join(project, 'node_modules');
    mkdirSync(modules);
    symlinkSync(root, join(modules, 'holdpoint'));
    for (const name of ['ai', 'zod']) {
      symlinkSync(join(root, 'node_modules', name), join(modules, name));
    }
    writeFileSync(join(project, 'rules.mts'), text);
    const tsc = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
    const flags = ['--noEmit', '--strict', '--skipLibCheck', '--pretty', 'false'];
    const source = ['--customConditions', 'holdpoint-source', '--allowImportingTsExtensions'];
    const types = ['--types', 'node', '--typeRoots', join(root, 'node_modules', '@types')];
    const parameters = [tsc, ...flags, ...source, ...types, '--module', 'nodenext', 'rules.mts'];
    return spawnSync(process.execPath, parameters, { cwd: project, encoding: 'utf8' }).stdout;
  } finally {
    rmSync(project, { recursive: true });
  }
}

test('the compiler says how to write a rule that is kept in a const', () => {
  const errors = compile(code).split(/^(?=rules)/m);
  const lines = errors.map((error) => Number(/\((\d+),/.exec(error)?.[1]));
  const all = code.split('\n');
  expect(lines.map((line) => all[line - 1])).toEqual(
    all.filter((line) => /toolApproval: .*(?:kept|all|name|made)\b/.test(line)),
  );
  for (const error of errors) {
    const [first] = error.split('\n');
    expect(first).toContain('write `satisfies ToolApprovalStatus` after the rule');
  }
});
