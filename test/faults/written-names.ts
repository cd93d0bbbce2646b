import { readFileSync } from 'node:fs';
import { parseAst } from 'rolldown/parseAst';

/* Stands for what is only known when the file runs. */
const hole = '\0';

/**
 * The full names of the tests that a file writes. What a name takes from a table may be any text of the file. Those of other files and those
 * that are put together are missing.
 */
export function readWrittenNames(path: string): string[] {
  const program = parseAst(readFileSync(path, 'utf8'), { lang: 'ts' }, path);
  const texts = listTexts(program);
  return listNames(program, []).flatMap((name) => {
    const [before = '', ...rest] = name.split(hole);
    const filled = rest.flatMap((_part, nth) => {
      const start = [before, ...rest.slice(0, nth)].join(hole);
      return texts.map((text) => start + text + rest.slice(nth).join(hole));
    });
    return [name, ...filled];
  });
}

function listTexts(node: unknown): string[] {
  if (typeof node !== 'object' || node === null) return [];
  const value: unknown = Reflect.get(node, 'value');
  if (Reflect.get(node, 'type') === 'Literal') return typeof value === 'string' ? [value] : [];
  return Object.values(node).flatMap(listTexts);
}

function listNames(node: unknown, groups: readonly string[]): string[] {
  if (typeof node !== 'object' || node === null) return [];
  const kind = Reflect.get(node, 'type') === 'CallExpression' ? findKind(node) : undefined;
  const below = Object.values(node);
  if (kind === undefined) return below.flatMap((part) => listNames(part, groups));
  const [first]: unknown[] = Reflect.get(node, 'arguments');
  const named = [...groups, readName(first)];
  if (kind !== 'describe') return [named.join(' ')];
  return below.flatMap((part) => listNames(part, named));
}

/* `test` of `test(…)`, `test.skipIf(…)(…)` and `test.each(…)(…)`, where the name is in the last call. */
function findKind(call: object): string | undefined {
  const [first]: unknown[] = Reflect.get(call, 'arguments');
  const isNamed = /^(?:Literal|TemplateLiteral|Identifier)$/.test(
    String(Reflect.get(Object(first), 'type')),
  );
  return isNamed ? findCallee(Reflect.get(call, 'callee')) : undefined;
}

function findCallee(node: unknown): string | undefined {
  if (typeof node !== 'object' || node === null) return undefined;
  const name: unknown = Reflect.get(node, 'name');
  if (name === 'test' || name === 'it' || name === 'describe') return name;
  return ['object', 'callee', 'tag']
    .map((part) => findCallee(Reflect.get(node, part)))
    .find(Boolean);
}

function readName(node: unknown): string {
  const value: unknown = Reflect.get(Object(node), 'value');
  const quasis: unknown = Reflect.get(Object(node), 'quasis');
  const texts = Array.isArray(quasis)
    ? quasis.map((quasi) => String(Reflect.get(Object(Reflect.get(quasi, 'value')), 'cooked')))
    : [typeof value === 'string' ? value : hole];
  return texts.join(hole).replaceAll(/%[a-zA-Z#]|\$[\w.]+/g, hole);
}
