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
] as const;

/** Rows as comma-separated values: https://www.rfc-editor.org/rfc/rfc4180 */
export function csvOf(
  rows: readonly AuditRow[],
  end: { threadId: string; revision: number; hash: string },
): string {
  const { revision: event, ...log } = end;
  const all = [...rows, { event, time: '', what: 'end of the log', details: log }];
  const cells = all.map((row) => {
    const fields = new Map<string, unknown>(Object.entries(row));
    return columns.map((column) => cellOf(fields.get(column)));
  });
  return [columns, ...cells].map((line) => `${line.join(',')}\r\n`).join('');
}

function cellOf(value: unknown): string {
  if (value === undefined) return '';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  /* A spreadsheet would run it. */
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
