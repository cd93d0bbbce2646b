import { personLine } from '../content/requester-text.ts';
import type { AuditRow } from './audit-row.ts';

const columns = [
  'event',
  'time',
  'what',
  'who',
  'channel',
  'tool',
  'toolCallId',
  'requestId',
  'details',
  'principal',
] as const;

/* Behind white space, control characters and invisible ones. */
const formulaStart = /^[\s\p{C}]*[=+@-]/u;

/** Rows as comma-separated values: https://www.rfc-editor.org/rfc/rfc4180 */
export function csvOf(
  rows: readonly AuditRow[],
  end: { threadId: string; revision: number; hash: string },
): string {
  const { revision: event, ...log } = end;
  const all: AuditRow[] = [...rows, { event, time: '', what: 'end of the log', details: log }];
  const cells = all.map((row) => {
    const { who, ...others } = row;
    const fields = new Map<string, unknown>(
      Object.entries({ ...others, who: personLine(who), principal: who }),
    );
    return columns.map((column) => cellOf(fields.get(column)));
  });
  return [columns, ...cells].map((line) => `${line.join(',')}\r\n`).join('');
}

/** Every cell is quoted, also for a spreadsheet that separates by `;`. What it would take for a formula begins with `'`. */
function cellOf(value: unknown): string {
  const text =
    value === undefined || typeof value === 'string' ? (value ?? '') : JSON.stringify(value);
  const safe = formulaStart.test(text.normalize('NFKC')) ? `'${text}` : text;
  return `"${safe.replaceAll('"', '""')}"`;
}
