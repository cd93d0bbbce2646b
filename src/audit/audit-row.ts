import { inertLine } from '../content/inert-text.ts';
import { renderPerson } from '../content/requester-text.ts';

/** One thing that happened in a thread, for people who review it. */
export interface AuditRow {
  /** The number of the event in the log, from 1. A model's reply has a row for each of its calls too, with the same number. */
  event: number;
  /** When, as an ISO 8601 date and time in UTC. */
  time: string;
  /** What, in a few words: `approval requested`, `call started`, … */
  what: string;
  /** Who did it, as authenticated by the app. Absent for what holdpoint, the model or a tool did. */
  who?: unknown;
  /** The channel that they used. */
  channel?: string;
  /** The call that it is about. */
  tool?: string;
  toolCallId?: string;
  /** The request that it is about. */
  requestId?: string;
  /** Everything else: what was shown, edited, run and returned. JSON. */
  details?: Readonly<Record<string, unknown>>;
}

/** Rows as lines for people, the last of which says where the log ends. */
export function writeRows(
  rows: readonly AuditRow[],
  { threadId, revision, hash }: { threadId: string; revision: number; hash: string },
): string {
  const lines = rows.map(renderAuditLine);
  return [...lines, `Thread ${inertLine(threadId)}: ${revision} events, hash ${hash || '(none)'}`]
    .map((line) => `${line}\n`)
    .join('');
}

function renderAuditLine({
  event,
  time,
  what,
  who,
  channel,
  tool,
  toolCallId,
  requestId,
  details,
}: AuditRow) {
  const by = renderPerson(who);
  return [
    time,
    `#${event}`,
    what,
    by === undefined ? '' : `by ${by}`,
    channel === undefined ? '' : `through ${inertLine(channel)}`,
    tool === undefined ? '' : `[${inertLine(tool)} ${inertLine(toolCallId ?? '')}]`,
    requestId === undefined ? '' : `(request ${inertLine(requestId)})`,
    details === undefined ? '' : inertLine(JSON.stringify(details)),
  ]
    .filter((part) => part !== '')
    .join(' ');
}

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
export function renderCsv(
  rows: readonly AuditRow[],
  end: { threadId: string; revision: number; hash: string },
): string {
  const { revision: event, ...log } = end;
  const all: AuditRow[] = [...rows, { event, time: '', what: 'end of the log', details: log }];
  const cells = all.map((row) => {
    const { who, ...others } = row;
    const fields = new Map<string, unknown>(
      Object.entries({ ...others, who: renderPerson(who), principal: who }),
    );
    return columns.map((column) => renderCell(fields.get(column)));
  });
  return [columns, ...cells].map((line) => `${line.join(',')}\r\n`).join('');
}

/** Every cell is quoted, also for a spreadsheet that separates by `;`. What it would take for a formula begins with `'`. */
function renderCell(value: unknown): string {
  const text =
    value === undefined || typeof value === 'string' ? (value ?? '') : JSON.stringify(value);
  const safe = formulaStart.test(text.normalize('NFKC')) ? `'${text}` : text;
  return `"${safe.replaceAll('"', '""')}"`;
}
