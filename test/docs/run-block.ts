import { stripTypeScriptTypes } from 'node:module';
import { compileFunction } from 'node:vm';
import { docBlocks } from '../package/doc-blocks.ts';

/** How a reader fits a block to an app: what is replaced by what. */
export type Edits = readonly (readonly [text: string, instead: string])[];

/** What a block leaves behind: its own names, and the lines that it prints. */
interface BlockRun<NAMES> {
  names: NAMES;
  printed: unknown[];
}

/**
 * Runs a block of the docs, by its page, heading and number there, in this process: `given` are the names that it takes for granted. Throws
 * if there is no such block, or if an edit finds nothing to replace.
 */
export async function runBlock<NAMES>(
  name: string,
  given: Readonly<Record<string, unknown>>,
  edits: Edits = [],
): Promise<BlockRun<NAMES>> {
  const code = stripTypeScriptTypes(editBlock(name, edits));
  const printed: unknown[] = [];
  const scope = { ...given, load, console: { log: (line: unknown) => printed.push(line) } };
  const own = [...code.matchAll(/^(?:export )?(?:const|let|(?:async )?function) (\w+)/gm)];
  const body = code
    .replaceAll(/^import \{([^}]*)\} from ('[^']+');$/gm, 'const {$1} = await load($2);')
    .replaceAll(/^export \{.*\};$/gm, '')
    .replaceAll(/^export /gm, '');
  const returned = own.map(([, each = '']) => each).join(', ');
  const run = compileFunction(
    `return (async () => { ${body}; return { ${returned} }; })();`,
    Object.keys(scope),
  );
  return { names: await Reflect.apply(run, undefined, Object.values(scope)), printed };
}

function editBlock(name: string, edits: Edits): string {
  const block = docBlocks.find((each) => each.name === name);
  if (block === undefined) throw new Error(`The docs have no block "${name}".`);
  return edits.reduce((code, [text, instead]) => {
    if (!code.includes(text)) throw new Error(`"${name}" has no "${text}".`);
    return code.replaceAll(text, instead);
  }, block.code);
}

const modules: Readonly<Record<string, () => Promise<object>>> = {
  ai: async () => import('ai'),
  holdpoint: async () => import('holdpoint'),
  'holdpoint/middleware': async () => import('holdpoint/middleware'),
  'holdpoint/tools': async () => import('holdpoint/tools'),
  'holdpoint/ui': async () => import('holdpoint/ui'),
};

async function load(from: string): Promise<object | undefined> {
  return modules[from]?.();
}
