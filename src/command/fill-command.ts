import { parseArgs } from 'node:util';
import { readErrorText } from '../content/app-errors.ts';
import { inertLine } from '../content/inert-text.ts';
import { fillRequests } from '../thread/fill-requests.ts';
import { openStore, requireOneStore } from './command-store.ts';
import { type CommandEnd, runCommand } from './run-command.ts';

const usage = `Usage: holdpoint fill-requests (--store <file> | --postgres <url>)

Adds the requests of threads that an older version has written to the rows of the store.
Run it once, when all processes run the new version; agents and workers may go on meanwhile.
It can be run again.

  --store <file>      the SQLite file of the threads
  --postgres <url>    the connection string of the database of the threads; needs the package pg

Exit status: 0 if all threads could be read, 1 if some could not, 2 if the store could not be opened.
`;

/** Runs `holdpoint fill-requests` with the arguments that follow it. */
export async function runFillCommand(args: readonly string[]): Promise<CommandEnd> {
  return runCommand({ usage, parse: parseCommandArguments, run: fill }, args);
}

function parseCommandArguments(args: readonly string[]) {
  const { values } = parseArgs({
    args: [...args],
    options: {
      store: { type: 'string' },
      postgres: { type: 'string' },
      help: { type: 'boolean', short: 'h', default: false },
    },
  });
  if (!values.help) requireOneStore(values);
  return values;
}

async function fill(named: ReturnType<typeof parseCommandArguments>): Promise<CommandEnd> {
  const { store, close } = await openStore(named, { createSchema: true });
  const unread: string[] = [];
  try {
    const { threads, requests } = await fillRequests(store, {
      report: ({ threadId, error }) => {
        if (error !== undefined) unread.push(`${threadId}: ${readErrorText(error)}`);
      },
    });
    const output = `Threads that were read: ${threads}, with ${requests} requests.\n`;
    if (unread.length === 0) return { status: 0, output };
    const lines = unread.map((line) => `${inertLine(line)}\n`);
    return { status: 1, output, error: `Could not be read:\n${lines.join('')}` };
  } finally {
    await close();
  }
}
