import { inertLine } from '../content/inert-text.ts';
import { personLine } from '../content/requester-text.ts';
import type { AuditRow } from './audit-row.ts';

/** Rows as lines for people, the last of which says where the log ends. */
export function writeRows(
  rows: readonly AuditRow[],
  { threadId, revision, hash }: { threadId: string; revision: number; hash: string },
): string {
  const lines = rows.map(lineOf);
  return [...lines, `Thread ${inertLine(threadId)}: ${revision} events, hash ${hash || '(none)'}`]
    .map((line) => `${line}\n`)
    .join('');
}

function lineOf({
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
  const by = personLine(who);
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
