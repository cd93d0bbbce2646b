import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sqliteStore } from 'holdpoint/stores/sqlite';
import { playAll } from './plays.ts';
import { playStore } from './stores.ts';

/* For Node and for Deno. */
const results = {
  plays: await playAll(),
  sqliteStore: await playStore(async () => {
    const file = join(mkdtempSync(join(tmpdir(), 'holdpoint-runtime-')), 'threads.sqlite');
    return (hooks) => sqliteStore(file, hooks);
  }),
};
console.log(JSON.stringify(results));
process.exit(0);
