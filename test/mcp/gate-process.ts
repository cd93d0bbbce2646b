/*
 * A gate of its own process, over standard input and output, in front of the bank of `bank-process.ts`. Arguments: the file of its store, the bank's
 * ledger, and how long it holds a call.
 */
import { join } from 'node:path';
import { createGate } from 'holdpoint/mcp';
import { sqliteStore } from 'holdpoint/stores/sqlite';

const [file = '', ledger = '', holdMs = '45000'] = process.argv.slice(2);
const gate = createGate({
  store: sqliteStore(file),
  leaseMs: 2_000,
  holdMs: Number(holdMs),
  upstreams: {
    bank: {
      command: process.execPath,
      args: [join(import.meta.dirname, 'bank-process.ts'), ledger],
    },
  },
});
await gate.serveStdio({ principal: 'ada' });
await gate.close();
