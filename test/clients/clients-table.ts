import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const cellSchema = z.object({
  text: z.string(),
  /** For how long the client waited, where that was measured. */
  seconds: z.number().optional(),
  /** Whether it waited to the end. */
  isPaid: z.boolean().optional(),
  version: z.string(),
  on: z.iso.date(),
});

/** What was measured of a client, with which version of it, and when. */
export type Cell = z.infer<typeof cellSchema>;

export const columns = ['silence', 'progress', 'pending', 'url'] as const;

const rowSchema = z.object({
  client: z.string(),
  transport: z.enum(['stdio', 'HTTP']),
  cells: z.record(z.enum(columns), cellSchema),
});

/** A line of the table. */
export type Row = z.infer<typeof rowSchema>;

export const measuredFile = join(import.meta.dirname, 'measured-clients.json');

/** Reads what was measured so far. */
export function readMeasured(): Row[] {
  return z.array(rowSchema).parse(JSON.parse(readFileSync(measuredFile, 'utf8')));
}

/** The cell to show: one that a client waited for longer is kept, unless the client gave up earlier now. */
export function chooseCell(old: Cell | undefined, next: Cell): Cell {
  if (old?.seconds === undefined || next.seconds === undefined) return next;
  return next.isPaid === true && next.seconds < old.seconds ? old : next;
}

const begin = '<!-- clients: written by `npm run clients` -->';
const end = '<!-- end of clients -->';

/** The page with this table in it. */
export function putTable(page: string, rows: readonly Row[]): string {
  const [before, rest] = page.split(begin);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined) throw new Error(`The page has no ${begin}.`);
  return `${before}${begin}\n\n${renderTable(rows)}\n${end}${after}`;
}

function renderTable(rows: readonly Row[]): string {
  const heads = ['client', 'measured', 'held in silence', 'held with progress'].concat([
    '"pending, call again"',
    'shows an address (URL elicitation)',
  ]);
  const lines = rows.map(({ client, transport, cells }) => {
    const latest = Object.values(cells).reduce((one, other) => (other.on > one.on ? other : one));
    const texts = columns.map((column) => {
      const { text, version, on } = cells[column];
      const isLatest = version === latest.version && on === latest.on;
      return isLatest ? text : `${text} (${version}, ${on})`;
    });
    return [`${client} ${latest.version}, ${transport}`, latest.on, ...texts];
  });
  const all = [heads, heads.map(() => ''), ...lines];
  const widths = heads.map((_, index) =>
    Math.max(...all.map((line) => (line[index] ?? '').length)),
  );
  return all
    .map((line, row) =>
      widths.map((width, index) => pad(line[index] ?? '', width, row === 1 ? '-' : ' ')),
    )
    .map((cells) => `| ${cells.join(' | ')} |\n`)
    .join('');
}

function pad(text: string, width: number, by: string): string {
  return text.padEnd(width, by);
}
