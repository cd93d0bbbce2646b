/*
 * A gate of its own process, over standard input and output, in front of the bank of `bank-process.ts`. Arguments: where its calls are kept (a file of
 * SQLite, or the address of a Postgres database), the bank's ledger, how long it holds a call, before or after which append to a call it kills itself
 * (such as `3 before`), and the fate of the bank.
 */
import { join } from 'node:path';
import type { ThreadStore } from 'holdpoint';
import { createGate } from 'holdpoint/mcp';
import { postgresStore } from 'holdpoint/stores/postgres';
import { sqliteStore } from 'holdpoint/stores/sqlite';
import { Pool } from 'pg';

const [place = '', ledger = '', holdMs = '45000', death = '', fate = ''] = process.argv.slice(2);
/** How many appends to calls have become durable. */
let appends = 0;

function dieIfDue(append: number, when: 'before' | 'after'): void {
  if (death === `${append} ${when}`) process.kill(process.pid, 'SIGKILL');
}

function openStore(): ThreadStore {
  const store = URL.canParse(place)
    ? postgresStore(new Pool({ connectionString: place, max: 2 }))
    : sqliteStore(place);
  return {
    ...store,
    async append(threadId, ...input) {
      const isCall = threadId.startsWith('call-');
      if (isCall) dieIfDue(appends + 1, 'before');
      await store.append(threadId, ...input);
      if (isCall) dieIfDue((appends += 1), 'after');
    },
  };
}

const gate = createGate({
  store: openStore(),
  leaseMs: 2_000,
  holdMs: Number(holdMs),
  upstreams: {
    bank: {
      command: process.execPath,
      args: [join(import.meta.dirname, 'bank-process.ts'), ledger, fate],
    },
  },
});
await gate.serveStdio({ principal: 'ada' });
await gate.close();
process.exit();
