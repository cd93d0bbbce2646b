import { inertLine } from '../content/inert-text.ts';
import { renderPerson } from '../content/request-text.ts';
import type { CallPlace, ToolCallRecord } from '../content/tool-call.ts';
import { HoldpointError } from '../errors.ts';
import { copyPlain } from '../json/json-value.ts';
import type { AgentThread } from '../thread/agent-thread.ts';
import { applyEntry } from '../thread/apply-events.ts';
import { CallsByPlace, makePlaceKey } from '../thread/calls-by-place.ts';
import { readEntry } from '../thread/log-entry.ts';
import { listProposedCalls } from '../thread/proposed-calls.ts';
import type { ThreadEvent, ThreadEventOf } from '../thread/thread-event.ts';
import { parseThreadJson, verifyEntries } from '../thread/thread-json.ts';
import { listCalls, makeEmptyThread } from '../thread/thread-state.ts';
import type { ThreadEnd } from '../thread/thread-store.ts';
import { describeEvent, type EventText, type FindCall } from './describe-event.ts';

/** The events of a thread in words, and the end of its log at that time. */
export interface AuditTrail {
  /** The thread that the trail is about. */
  threadId: string;
  /** The rows, oldest first. */
  rows: readonly AuditRow[];
  /** The number of events in the log. */
  revision: number;
  /** The hash at the end of the log, SHA-256 as base64url: it covers every event. `''` for a thread without events. */
  hash: string;
  /** Writes lines for people, with the hash at the end. Text from models and people is inert: hidden and control characters are visible. */
  toText(): string;
  /** Writes one JSON object per line: the rows, and at the end `{"log":{"threadId","revision","hash"}}`. */
  toJsonLines(): string;
  /**
   * Comma-separated values (RFC 4180) with a header. Cells that a spreadsheet would take for formulas begin with `'`. Ends with the hash.
   */
  toCsv(): string;
}

/** One event of a thread, for people who review it. */
interface AuditRow {
  /** The number of the event in the log, from 1. A model's reply has a row for each of its calls too, with the same number. */
  event: number;
  /** The time, as an ISO 8601 date and time in UTC. */
  time: string;
  /** The event in a few words: `approval requested`, `call started`, … */
  what: string;
  /** The person who did it, as authenticated by the app. Absent for acts of holdpoint, the model or a tool did. */
  who?: unknown;
  /** The channel that they used. */
  channel?: string;
  /** The call that it is about. */
  tool?: string;
  /** The id of that call. */
  toolCallId?: string;
  /** The request that it is about. */
  requestId?: string;
  /** The other facts, as JSON: the shown request, the edit, the executed input, the result. */
  details?: Readonly<Record<string, unknown>>;
}

/**
 * The history of a thread, in rows for people who review it: who asked, what was shown, who answered and through which channel, what was
 * edited, what ran under which idempotency key, and how it ended. It is derived from the log, and ends with the log's hash.
 *
 * The log is read from its beginning and verified first, as by `thread.verify()`. Rejects with `log-tampered` if anything was changed.
 *
 * @example
 * const trail = await auditTrail(thread);
 * await writeFile('trail.csv', trail.toCsv());
 */
export async function auditTrail(thread: AgentThread): Promise<AuditTrail> {
  await thread.verify();
  /* The handle may have been opened when the store had another log. */
  return deriveTrail(thread.toJSON());
}

/**
 * Checks a trail, in any of its three forms, against the JSON form of its thread: verifies the log's hashes, derives the trail again, and
 * compares the texts. For a reviewer who has both and trusts neither. Rejects with `log-tampered` for a log that was changed, and with
 * `invalid-input` and the first line that differs for a trail that differs from the log. A log that has grown since differs at the end.
 */
export async function checkAuditTrail(trail: string, json: unknown): Promise<AuditTrail> {
  const derived = await deriveTrail(json);
  const forms = [derived.toText(), derived.toJsonLines(), derived.toCsv()];
  if (forms.includes(trail)) return derived;
  const line = Math.max(...forms.map((form) => findFirstDifference(form, trail)));
  throw new HoldpointError(
    'invalid-input',
    `The audit trail of thread ${derived.threadId} differs from its log at line ${line}. Make it again with auditTrail, and compare the two.`,
  );
}

/** The trail of the JSON form of a thread, whose hashes are verified first. */
async function deriveTrail(json: unknown): Promise<AuditTrail> {
  const { threadId, entries } = parseThreadJson(json);
  const hash = (await verifyEntries(entries)).at(-1)?.hash ?? '';
  const state = makeEmptyThread(threadId);
  for (const entry of entries) applyEntry(state, readEntry(entry));
  const calls = new CallsByPlace(listCalls(state, 0));
  const findCall: FindCall = (place) => calls.at(place);
  const shown = new ShownCalls();
  const rows = state.events.slice().flatMap((event, index) => {
    shown.read(event);
    return describeEvent(event, findCall).map((text) => {
      const { place = shown.placeOf(text.requestId) } = text;
      const call = place && findCall(place);
      const details = { ...shown.detailsOf(event), ...text.details };
      return makeAuditRow({ ...text, details }, { event: index + 1, at: event.at, call });
    });
  });
  const end = { threadId, revision: state.events.length, hash };
  return {
    ...end,
    rows,
    toText: () => writeRows(rows, end),
    toJsonLines: () => [...rows, { log: end }].map((line) => `${JSON.stringify(line)}\n`).join(''),
    toCsv: () => renderCsv(rows, end),
  };
}

/** The number of the first line, from 1, in which two texts differ. */
function findFirstDifference(one: string, other: string): number {
  const lines = one.split('\n');
  const others = other.split('\n');
  const index = lines.findIndex((line, at) => line !== others[at]);
  return (index === -1 ? lines.length : index) + 1;
}

/** The calls that requests show, which the log has only once. */
class ShownCalls {
  readonly #places = new Map<string, CallPlace>();
  /** The inputs of the calls so far: as proposed, as made again by a schema, as edited by a person. */
  readonly #inputs = new Map<string, unknown>();
  /** The edits of open requests that wait for more approvals. */
  readonly #pending = new Map<string, { input: unknown }>();

  read(event: ThreadEvent): void {
    if (event.type === 'request-opened') {
      const place = event.place ?? event.beside;
      if (place !== undefined) this.#places.set(event.request.requestId, place);
    }
    if (event.type === 'step-finished')
      for (const call of listProposedCalls(event)) this.#keep(call, call.input);
    if (event.type === 'input-remade') this.#keep(event, event.input);
    if (event.type === 'request-voted' && event.edit !== undefined)
      this.#pending.set(event.response.requestId, event.edit);
    if (event.type === 'vote-withdrawn' && event.endsEdit === true)
      this.#pending.delete(event.requestId);
    if (event.type === 'request-answered') this.#readAnswer(event);
  }

  #readAnswer({ response, edit }: ThreadEventOf<'request-answered'>): void {
    const { requestId } = response;
    const approved = edit ?? this.#pending.get(requestId);
    const isApproval = response.type === 'approval-response' && response.approved;
    if (isApproval && approved !== undefined) this.#keep(this.placeOf(requestId), approved.input);
    this.#pending.delete(requestId);
  }

  #keep(place: CallPlace | undefined, input: unknown): void {
    if (place !== undefined) this.#inputs.set(makePlaceKey(place), input);
  }

  placeOf(requestId: string | undefined): CallPlace | undefined {
    return requestId === undefined ? undefined : this.#places.get(requestId);
  }

  /** The input that an opened request shows. */
  detailsOf(event: ThreadEvent): { input?: unknown } {
    if (event.type !== 'request-opened' || event.place === undefined) return {};
    const key = makePlaceKey(event.place);
    return this.#inputs.has(key) ? { input: this.#inputs.get(key) } : {};
  }
}

function makeAuditRow(
  { what, by = {}, requestId, details = {} }: EventText,
  { event, at, call }: { event: number; at: number; call: ToolCallRecord | undefined },
): AuditRow {
  const { principal, channel } = by;
  const said = Object.entries(details);
  return {
    event,
    time: new Date(at).toISOString(),
    what,
    ...(principal === undefined ? {} : { who: copyPlain(principal) }),
    channel,
    ...(call === undefined ? {} : { tool: call.toolName, toolCallId: call.toolCallId }),
    requestId,
    ...(said.length === 0 ? {} : { details: copyDetails(said) }),
  };
}

function copyDetails(fields: readonly [string, unknown][]): Record<string, unknown> {
  const present = fields.filter(([, value]) => value !== undefined);
  return Object.fromEntries(present.map(([name, value]) => [name, copyPlain(value)]));
}

/** Writes rows as lines for people. The last line shows the end of the log. */
function writeRows(rows: readonly AuditRow[], { threadId, revision, hash }: ThreadEnd): string {
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

/* Also after white space, control characters and invisible ones. */
const formulaStart = /^[\s\p{C}]*[=+@-]/u;

/** Rows as comma-separated values: https://www.rfc-editor.org/rfc/rfc4180 */
function renderCsv(rows: readonly AuditRow[], end: ThreadEnd): string {
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

/**
 * Writes a cell in quotation marks, also for a spreadsheet that separates by `;`. A text that it would take for a formula begins with `'`.
 */
function renderCell(value: unknown): string {
  const text =
    value === undefined || typeof value === 'string' ? (value ?? '') : JSON.stringify(value);
  const safe = formulaStart.test(text.normalize('NFKC')) ? `'${text}` : text;
  return `"${safe.replaceAll('"', '""')}"`;
}
