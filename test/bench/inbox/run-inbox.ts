import { type Database, isRepresentative, openDatabase } from '../durable/database.ts';
import { startPostgres } from '../durable/postgres-databases.ts';
import type { Target } from '../target.ts';
import { TemporaryFiles } from '../temporary-files.ts';
import { fillInbox, writeRequestTexts } from './fill-inbox.ts';
import { type InboxResult, inboxTargets, renderInbox } from './inbox-report.ts';
import { measureServer } from './measure-server.ts';
import { timeHandler } from './time-handler.ts';
import { timePage } from './time-page.ts';
import { timeStore } from './time-store.ts';

/** Measures an inbox with 100,000 open requests on SQLite and Postgres, prints what it finds, and gives the targets. */
export async function runInbox(quick: boolean): Promise<Target[]> {
  using files = new TemporaryFiles();
  await using postgres = await startPostgres();
  if (postgres.problem !== undefined) console.log(`Without Postgres: ${postgres.problem}\n`);
  const rounds = quick ? 20 : 200;
  const results: InboxResult[] = [];
  for (const database of [files.database(), ...postgres.databases.filter(isRepresentative)]) {
    results.push(await measureInbox(database, rounds));
  }
  console.log(renderInbox(results, rounds));
  return inboxTargets(results);
}

async function measureInbox(database: Database, rounds: number): Promise<InboxResult> {
  await fillInbox(database);
  await using open = openDatabase(database);
  const { store } = open;
  const stored = await timeStore(store, rounds);
  await writeRequestTexts(database);
  const handled = await timeHandler(store, rounds);
  const page = await timePage(database, store, 20);
  await using other = openDatabase(database);
  const server = await measureServer(store, other.store, 20);
  const name = database.kind === 'sqlite' ? 'SQLite' : 'Postgres';
  return { name, stored, handled, page, server };
}
