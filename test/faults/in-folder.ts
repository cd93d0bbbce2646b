import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Does work in a folder that is gone afterwards. */
export async function inFolder<RESULT>(work: (folder: string) => Promise<RESULT>): Promise<RESULT> {
  const folder = mkdtempSync(join(tmpdir(), 'holdpoint-disk-'));
  try {
    return await work(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}
