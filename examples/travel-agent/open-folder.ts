import { constants } from 'node:fs';
import { access, appendFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { inertLine } from 'holdpoint';
import { sqliteStore, type SqliteStore } from 'holdpoint/stores/sqlite';
import { wrapLine } from './wrap-line.ts';

/** The folder in which the demo stores everything. */
interface Folder {
  store: SqliteStore;
  bookingsPath: string;
}

const advice = 'Set HOLDPOINT_DEMO_DIR to a folder that can be written to.';

/** Opens or creates the folder. If that fails, prints one line with the reason and ends the process with status 1. */
export async function openFolder(path: string): Promise<Folder> {
  const bookingsPath = join(path, 'bookings.jsonl');
  try {
    await mkdir(path, { recursive: true });
    await access(path, constants.W_OK);
    await appendFile(bookingsPath, '');
    return { store: sqliteStore(join(path, 'threads.sqlite')), bookingsPath };
  } catch (error) {
    const line = `${inertLine(path)} can't be used: ${reasonOf(error)}. ${advice}`;
    console.error(wrapLine(line, process.stderr));
    process.exit(1);
  }
}

function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  if (/^(EEXIST|ENOTDIR)\b/.test(message)) return 'a file is in the way';
  if (/^(EACCES|EPERM|EROFS)\b/.test(message)) return "it can't be written to";
  return inertLine(message.replace(/\.$/, ''));
}
