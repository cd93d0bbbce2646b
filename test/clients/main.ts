/*
 * `npm run clients` runs the MCP clients that can be installed here against servers that let them wait, and against a gate, and writes the table
 * of docs/guides/gate.md. A client that could not be run keeps its line. `-- --long` waits for 400 seconds instead of 70.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { agentVersions } from '../gate/coding-agents.ts';
import { cachedPackage } from '../support/cached-package.ts';
import {
  type Cell,
  chooseCell,
  columns,
  measuredFile,
  putTable,
  readMeasured,
  type Row,
} from './clients-table.ts';
import { measurePage, measurePending, measureWait } from './measure-client.ts';
import { clients } from './run-client.ts';

const seconds = process.argv.includes('--long') ? 400 : 70;
const on = new Date().toISOString().slice(0, 10);
const packages = await cachedPackage(agentVersions).catch((error: unknown) => String(error));

type Column = (typeof columns)[number];
type Found = Omit<Cell, 'version' | 'on'>;

async function measure({ client, transport }: Row, column: Column): Promise<Found> {
  const measured = { client, transport, packages };
  const { notes = {} } = clients[client] ?? {};
  switch (column) {
    case 'silence':
    case 'progress': {
      const { hasToken, ...wait } = await measureWait(measured, column, seconds);
      if (column === 'progress' && !hasToken) return { text: 'asks for none' };
      const text = wait.isPaid ? `${wait.seconds} s and more` : `gives up after ${wait.seconds} s`;
      return { ...wait, text: addNote(text, column === 'progress' ? notes.progress : undefined) };
    }
    case 'pending': {
      const calls = await measurePending(measured);
      return { text: calls === undefined ? 'does not call again' : 'calls again, one payment' };
    }
    case 'url': {
      const action = await measurePage(measured);
      return { text: action === undefined ? 'no' : addNote(`yes: \`${action}\``, notes.url) };
    }
  }
}

function addNote(text: string, note: string | undefined): string {
  return note === undefined ? text : `${text}, ${note}`;
}

let begun = 0;

async function measureRow(row: Row): Promise<Row> {
  const version = clients[row.client]?.version ?? '';
  const cells = await Promise.all(
    columns.map(async (column): Promise<[Column, Cell]> => {
      /* They wait side by side, but do not start at once. */
      begun += 1;
      await setTimeout(1_000 * begun);
      const old = row.cells[column];
      try {
        return [column, chooseCell(old, { ...(await measure(row, column)), version, on })];
      } catch (error) {
        console.error(`${row.client}, ${row.transport}, ${column}: ${String(error)}`);
        return [column, old];
      }
    }),
  );
  return { ...row, cells: { ...row.cells, ...Object.fromEntries(cells) } };
}

const isAgent = (client: string): boolean => ['Claude Code', 'Codex'].includes(client);
if (!packages.startsWith('/')) console.error(`Without the coding agents: ${packages}`);
const rows = await Promise.all(
  readMeasured().map(async (row) =>
    isAgent(row.client) && !packages.startsWith('/') ? row : measureRow(row),
  ),
);
writeFileSync(measuredFile, `${JSON.stringify(rows, undefined, 2)}\n`);
const page = join(import.meta.dirname, '..', '..', 'docs', 'guides', 'gate.md');
writeFileSync(page, putTable(readFileSync(page, 'utf8'), rows));
process.exit();
