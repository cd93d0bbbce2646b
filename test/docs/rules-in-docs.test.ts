import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseAst } from 'rolldown/parseAst';
import { expect, test } from 'vitest';
import { type DocBlock, docBlocks } from '../package/doc-blocks.ts';

const root = join(import.meta.dirname, '..', '..');

/** What was tried in a block: for each of its rules, what is wrong with it. */
interface Tried {
  file: string;
  rules: string[][];
}

/** The functions that a block writes as rules, or as their texts. */
function countRules({ code, file }: Pick<DocBlock, 'code' | 'file'>): number {
  return rulesIn(parseAst(code, { lang: file.endsWith('x') ? 'tsx' : 'ts' }));
}

function rulesIn(node: unknown): number {
  if (typeof node !== 'object' || node === null) return 0;
  const name: unknown = Reflect.get(
    Object(Reflect.get(node, 'key') ?? Reflect.get(node, 'id')),
    'name',
  );
  const isRule = name === 'toolApproval' || name === 'needsApproval';
  if (isRule) return functionsIn(Reflect.get(node, 'value') ?? Reflect.get(node, 'init'));
  return Object.values(node).reduce<number>((sum, part) => sum + rulesIn(part), 0);
}

/* Not those within functions. */
function functionsIn(node: unknown): number {
  if (typeof node !== 'object' || node === null) return 0;
  const type: unknown = Reflect.get(node, 'type');
  if (type === 'ArrowFunctionExpression' || type === 'FunctionExpression') return 1;
  return Object.values(node).reduce<number>((sum, part) => sum + functionsIn(part), 0);
}

/** Runs blocks up to their agents, and tries the rules that these got. */
function tryRules(blocks: readonly Pick<DocBlock, 'code' | 'file' | 'folder'>[]): Tried[] {
  const project = mkdtempSync(join(tmpdir(), 'holdpoint-rules-'));
  try {
    mkdirSync(join(project, 'node_modules'));
    symlinkSync(root, join(project, 'node_modules', 'holdpoint'));
    for (const name of ['ai', 'zod']) {
      symlinkSync(join(root, 'node_modules', name), join(project, 'node_modules', name));
    }
    const files = blocks.map(({ folder, file, code }, index) => {
      const path = join(project, folder, file);
      mkdirSync(join(project, folder), { recursive: true });
      writeFileSync(path, code.replaceAll("from 'holdpoint';", `from './holdpoint-${index}.mjs';`));
      const record = `(options) => globalThis.recordAgent(${JSON.stringify(path)}, options)`;
      writeFileSync(
        join(project, folder, `holdpoint-${index}.mjs`),
        `export * from 'holdpoint';\nexport const createAgent = ${record};\n`,
      );
      return path;
    });
    writeFileSync(join(project, 'package.json'), '{ "type": "module" }');
    const output = join(project, 'tried.json');
    const world = join(root, 'test/fixtures/readme-world.ts');
    const probe = join(import.meta.dirname, 'rule-probe-process.ts');
    const parameters = [
      '--conditions=holdpoint-source',
      '--import',
      world,
      probe,
      output,
      ...files,
    ];
    const { stderr } = spawnSync(process.execPath, parameters, { cwd: root, encoding: 'utf8' });
    expect(stderr).not.toContain('rule-probe-process');
    return JSON.parse(readFileSync(output, 'utf8'));
  } finally {
    rmSync(project, { recursive: true });
  }
}

test('every rule in README and the docs fits its tool, and asks where a field is missing', () => {
  const blocks = docBlocks.filter((block) => countRules(block) > 0);
  const tried = tryRules(blocks);
  const found = tried.map(({ rules }, index) => ({
    name: blocks[index]?.name,
    rules: rules.length,
    faults: rules.flat(),
  }));
  const expected = blocks.map((block) => ({
    name: block.name,
    rules: countRules(block),
    faults: [],
  }));
  expect(blocks.length).toBeGreaterThan(5);
  expect(found).toEqual(expected);
});

test('a rule in the docs that would run by mistake is found', () => {
  const tool = 'const pay = tool({ inputSchema: z.object({ euros: z.number() }) });';
  const imports =
    "import { tool } from 'ai';\nimport { createAgent } from 'holdpoint';\nimport { z } from 'zod';";
  const paying = (rule: string): string =>
    `${imports}\n${tool}\ncreateAgent({ model, tools: { pay }, toolApproval: ${rule} });`;
  const rules = [
    "{ pay: ({ euros }) => (euros > 100 ? 'user-approval' : 'approved') }",
    "{ pay: ({ amount }) => (amount <= 100 ? 'approved' : 'user-approval') }",
    "{ pay: ({ euros }) => { if (euros > 100) return 'denied'; } }",
    "({ toolCall }) => (toolCall.input.euros > 100 ? 'denied' : 'not-applicable')",
    "{ pay: { type: 'user-approval', text: ({ amount }) => `Pay ${amount}?` } }",
    "{ pay: (_input, { calls }) => calls.reduce((sum, { input }) => sum + input.euros, _input.euros) > 500 ? 'denied' : 'approved' }",
    "{ pay: async ({ euros }) => (euros <= 100 ? 'approved' : 'denied') }",
  ];
  const tried = tryRules(
    rules.map((rule, index) => ({ folder: 'p', file: `${index}.ts`, code: paying(rule) })),
  );
  expect(tried.map((each) => [...new Set(each.rules.flat())])).toEqual([
    ['pay: it runs without euros'],
    ['pay: it reads amount, which the tool does not have'],
    ['pay: it runs without euros'],
    ['pay: it runs without euros'],
    ['pay: it reads amount, which the tool does not have'],
    ['pay: it runs without euros', 'pay: it runs after a call without euros'],
    [],
  ]);
});
