/*
 * A gate of a team in a process of its own, over HTTP on 127.0.0.1, which prints its host. Arguments: the address of its Postgres database, the ledger of
 * its bank, and how long it holds a call.
 */
import { postgresStore } from 'holdpoint/stores/postgres';
import { Pool } from 'pg';
import { serveLocally } from '../../src/apps/command/local-server.ts';
import { openTeamGate } from './team-gate.ts';

const [database = '', ledger = '', holdMs = '45000'] = process.argv.slice(2);
const store = postgresStore(new Pool({ connectionString: database, max: 3 }));
const gate = openTeamGate(store, ledger, Number(holdMs));
const { host } = await serveLocally(0, () => gate.handler);
console.log(host);
