import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

const docs = join(import.meta.dirname, '..', '..', 'docs');

/** The files that a page of the docs has in its code blocks, by the names in their first lines. */
export async function readNamedBlocks(page: string): Promise<Map<string, string>> {
  const text = await readFile(join(docs, page), 'utf8');
  const blocks = [...text.matchAll(/```(?:tsx?|js)\n\/\/ (\S+)\n(.*?)```/gs)];
  return new Map(blocks.map(([, name = '', code = '']) => [name, code]));
}
