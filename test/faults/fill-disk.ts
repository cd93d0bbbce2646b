import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { z } from 'zod';

const program = join(import.meta.dirname, '..', 'support', 'full-disk-process.ts');
/* In 512 bytes, as a POSIX shell counts: 512 KiB, of which an empty database takes a half, and a whole conversation another quarter. */
const largestFile = '1024';
const sizes = Array.from({ length: 27 }, (_, index) => 100_000 + index * 7_500);

const reportSchema = z.object({
  threadId: z.string(),
  /** What became of its requests, in their order. */
  replies: z.array(z.string()),
  /** The errors of those that failed. */
  failures: z.array(z.string()),
  /** The calls whose outcome the app was given, as the store did not take it. */
  unrecorded: z.array(z.string()),
});

/**
 * Leads threads on databases that have less and less room, in a process whose files can't grow beyond a size. That is no full
 * disk, but it needs no rights, and SQLite meets it in the same place: a write that fails.
 */
export async function fillDisk(folder: string): Promise<z.infer<typeof reportSchema>[]> {
  const command = [process.execPath, '--conditions=holdpoint-source', program, folder];
  const child = spawn(
    'sh',
    ['-c', 'ulimit -f "$0"; exec "$@"', largestFile, ...command, ...sizes.map(String)],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const [lines, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
  if (code !== 0) throw new Error(`The process that fills the disk ended with ${String(code)}.`);
  return lines
    .split('\n')
    .filter(Boolean)
    .map((line) => reportSchema.parse(JSON.parse(line)));
}
