import type { CallPlace, ToolCallRecord } from '../content/tool-call.ts';
import { copyPlain } from '../content/plain-copy.ts';
import { CallsByPlace, makePlaceKey } from '../thread/calls-by-place.ts';
import type { ThreadEvent } from '../thread/thread-event.ts';
import { type AuditRow, renderCsv, writeRows } from './audit-row.ts';
import { describeEvent, type EventText } from './describe-event.ts';

/** What happened in a thread, and where its log ended then. */
export interface AuditTrail {
  threadId: string;
  rows: readonly AuditRow[];
  /** How many events the log had. */
  revision: number;
  /** The hash at the end of the log, SHA-256 as base64url: it covers every event. `''` for a thread without events. */
  hash: string;
  /** Lines for people. Text from models and people is inert: what hides or controls is visible. Ends with the hash. */
  toText(): string;
  /** One JSON object a line: the rows, and at the end `{"log":{"threadId","revision","hash"}}`. */
  toJsonLines(): string;
  /** Comma-separated values (RFC 4180) with a header. Cells that a spreadsheet would take for formulas begin with `'`. Ends with the hash. */
  toCsv(): string;
}

/** A log, as a trail is made from it. */
export interface AuditedLog {
  threadId: string;
  events: readonly ThreadEvent[];
  calls: readonly ToolCallRecord[];
  hash: string;
}

/** The trail of a log. */
export function makeAuditTrail({ threadId, events, calls, hash }: AuditedLog): AuditTrail {
  const byPlace = new CallsByPlace(calls);
  const findCall = (place: CallPlace): ToolCallRecord | undefined => byPlace.at(place);
  const shown = new ShownCalls(findCall);
  const rows = events.flatMap((event, index) => {
    shown.read(event);
    return describeEvent(event, findCall).map((text) => {
      const { place = shown.placeOf(text.requestId) } = text;
      const call = place && findCall(place);
      const details = { ...shown.detailsOf(event), ...text.details };
      return makeAuditRow({ ...text, details }, { event: index + 1, at: event.at, call });
    });
  });
  const end = { threadId, revision: events.length, hash };
  return {
    ...end,
    rows,
    toText: () => writeRows(rows, end),
    toJsonLines: () => [...rows, { log: end }].map((line) => `${JSON.stringify(line)}\n`).join(''),
    toCsv: () => renderCsv(rows, end),
  };
}

/** What requests show of their calls, which the log has only once. */
class ShownCalls {
  readonly #findCall: (place: CallPlace) => ToolCallRecord | undefined;
  readonly #places = new Map<string, CallPlace>();
  /** The inputs of the calls that a person has edited by now. */
  readonly #edited = new Map<string, unknown>();

  constructor(findCall: (place: CallPlace) => ToolCallRecord | undefined) {
    this.#findCall = findCall;
  }

  read(event: ThreadEvent): void {
    if (event.type === 'request-opened') {
      const place = event.place ?? event.beside;
      if (place !== undefined) this.#places.set(event.request.requestId, place);
    }
    if (event.type !== 'request-answered' || event.edit === undefined) return;
    const place = this.placeOf(event.response.requestId);
    if (place !== undefined) this.#edited.set(makePlaceKey(place), event.edit.input);
  }

  placeOf(requestId: string | undefined): CallPlace | undefined {
    return requestId === undefined ? undefined : this.#places.get(requestId);
  }

  /** The input that an opened request shows. */
  detailsOf(event: ThreadEvent): { input?: unknown } {
    if (event.type !== 'request-opened' || event.place === undefined) return {};
    const call = this.#findCall(event.place);
    if (call === undefined) return {};
    const key = makePlaceKey(event.place);
    if (this.#edited.has(key)) return { input: this.#edited.get(key) };
    return { input: call.edit === undefined ? call.input : call.edit.original };
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
    ...(channel === undefined ? {} : { channel }),
    ...(call === undefined ? {} : { tool: call.toolName, toolCallId: call.toolCallId }),
    ...(requestId === undefined ? {} : { requestId }),
    ...(said.length === 0 ? {} : { details: copyDetails(said) }),
  };
}

function copyDetails(fields: readonly [string, unknown][]): Record<string, unknown> {
  const present = fields.filter(([, value]) => value !== undefined);
  return Object.fromEntries(present.map(([name, value]) => [name, copyPlain(value)]));
}
