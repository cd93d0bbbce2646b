import { type Command, InvalidArgumentError, Option } from 'commander';
import { z } from 'zod';
import { risks } from '../../content/approval-terms.ts';
import { inertLine } from '../../content/inert-text.ts';
import { requestKinds, requestStates } from '../../content/request-state.ts';
import type { RequestQuery, StoredRequest } from '../../thread/thread-store-requests.ts';
import { addStoreOptions, requireRequests, storeFields, withStore } from './command-store.ts';
import { planCommand } from './run-command.ts';
import { findRow, readContent, toShownJson } from './logged-request.ts';

type Choices<NAME extends keyof RequestQuery> = readonly NonNullable<RequestQuery[NAME]>[];

const states = [...requestStates, 'decided'] as const satisfies Choices<'state'>;
const orders = [
  'oldest',
  'newest',
  'expires',
  'risk',
  'decided',
] as const satisfies Choices<'order'>;

/** `holdpoint list` */
export const addListCommand = planCommand({
  name: 'list',
  summary: 'list what needs a person',
  description:
    'List what needs a person: approvals, questions, lost calls and stuck threads. Long texts are cut; "holdpoint show" shows all.',
  addOptions: (command) => addFilters(addStoreOptions(command)),
  statuses: [
    'listed, perhaps nothing',
    'the store has no request --after',
    'the store could not be read',
  ],
  schema: z.object({
    ...storeFields,
    state: z.enum(states),
    kind: z.enum(requestKinds).exactOptional(),
    /* `false`: --no-agent. */
    agent: z.union([z.string(), z.literal(false)]).optional(),
    tool: z.string().optional(),
    risk: z.enum(risks).exactOptional(),
    requester: z.string().exactOptional(),
    thread: z.string().optional(),
    order: z.enum(orders),
    limit: z.number(),
    after: z.string().optional(),
  }),
  async run({ store: file, postgres, agent, tool, thread, after, ...filter }, world) {
    return withStore({ store: file, postgres }, world, async (store) => {
      const requests = requireRequests(store);
      const rows = await requests.list({
        ...filter,
        ...(agent === undefined ? {} : { agent: agent === false ? null : agent }),
        ...(tool === undefined ? {} : { toolName: tool }),
        ...(thread === undefined ? {} : { threadId: thread }),
        ...(after === undefined ? {} : { after: await findRow(requests, after) }),
      });
      const next = rows.length < filter.limit ? null : (rows.at(-1)?.requestId ?? null);
      return {
        status: 0,
        json: { requests: rows.map((row) => toShownJson(row)), next },
        inert: renderRows(rows),
        ...(next === null ? {} : { warning: `There may be more: --after ${next}` }),
      };
    });
  },
});

function addFilters(command: Command): Command {
  return command
    .addOption(new Option('--state <state>', 'what became of it').choices(states).default('open'))
    .addOption(new Option('--kind <kind>', 'what it is').choices(requestKinds))
    .option('--agent <name>', 'of the agent of this name')
    .option('--no-agent', 'of agents without a name')
    .option('--tool <name>', 'about calls of this tool')
    .addOption(new Option('--risk <risk>', 'of this risk').choices(risks))
    .option('--requester <name>', 'asked for by this person')
    .option('--thread <threadId>', 'of this thread')
    .addOption(new Option('--order <order>', 'what comes first').choices(orders).default('oldest'))
    .option('--limit <n>', 'how many at most', parseLimit, 100)
    .option('--after <requestId>', 'only those after this one in the order');
}

function parseLimit(text: string): number {
  if (/^[1-9]\d{0,4}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('It must be a whole number from 1 to 99999.');
}

const columns = ['REQUEST', 'KIND', 'STATE', 'RISK', 'AGENT', 'TOOL', 'THREAD', 'SINCE', 'TEXT'];
const longestText = 60;

/** A table that is safe to print, a request a line. */
function renderRows(rows: readonly StoredRequest[]): string {
  if (rows.length === 0) return 'Nothing.';
  const table = [columns, ...rows.map(listCells)];
  const widths = columns.map((_, column) =>
    Math.max(...table.map((cells) => cells[column]?.length ?? 0)),
  );
  return table
    .map((cells) => cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '))
    .map((line) => line.trimEnd())
    .join('\n');
}

function listCells(row: StoredRequest): string[] {
  const { requestId, kind, state, risk, agent, toolName, threadId, createdAt } = row;
  const since = new Date(createdAt).toISOString().replace(/\..*/, 'Z');
  return [requestId, kind, state, risk, agent, toolName, threadId, since]
    .map((cell) => (cell === null ? '-' : inertLine(cell)))
    .concat(shorten(readTitle(row)));
}

function readTitle(row: StoredRequest): string {
  const content = readContent(row);
  switch (content?.type) {
    case 'approval-request':
    case 'question-request':
      return content.text;
    case 'lost-call':
      return JSON.stringify(content.call.input);
    case 'stuck-thread':
      return content.error ?? '';
    case undefined:
      return '(erased, or damaged)';
  }
}

/* Cut before it is made inert, so that no escape is cut in two. */
function shorten(text: string): string {
  const start = text.slice(0, longestText).toWellFormed();
  return inertLine(start) + (start.length < text.length ? '…' : '');
}
