import { constants } from 'node:fs';
import { access, appendFile, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { inertLine } from 'holdpoint';
import { sqliteStore, type SqliteStore } from 'holdpoint/stores/sqlite';
import { wrapped } from './wrapped.ts';

/** Where the demo keeps everything. */
interface Folder {
  store: SqliteStore;
  bookingsPath: string;
}

const advice = 'Set HOLDPOINT_DEMO_DIR to a folder that can be written to.';

/** Opens the folder, or creates it. Where that fails, one line says why, and the process ends with status 1. */
export async function openFolder(path: string): Promise<Folder> {
  const bookingsPath = join(path, 'bookings.jsonl');
  try {
    await mkdir(path, { recursive: true });
    await access(path, constants.W_OK);
    await appendFile(bookingsPath, '');
    return { store: sqliteStore(join(path, 'threads.sqlite')), bookingsPath };
  } catch (error) {
    const line = `${inertLine(path)} can't be used: ${reasonOf(error)}. ${advice}`;
    console.error(wrapped(line, process.stderr));
    process.exit(1);
  }
}

function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  if (/^(EEXIST|ENOTDIR)\b/.test(message)) return 'a file is in the way';
  if (/^(EACCES|EPERM|EROFS)\b/.test(message)) return "it can't be written to";
  return inertLine(message.replace(/\.$/, ''));
}
