import type { CallPlace, ToolCallRecord } from '../../content/tool-call.ts';
import { HoldpointError } from '../../errors.ts';
import type { ThreadEvent } from '../thread-event.ts';
import type { EndedRequest, OpenRequest, ThreadHead } from '../thread-state.ts';

/** A head that is being written: a copy of its own, of which only the fields and the calls are written, and an index beside it. */
export interface Writing {
  readonly draft: ThreadHead;
  readonly requests: Map<string, OpenRequest>;
  readonly endedRequests: ReadonlyMap<string, EndedRequest>;
}

/** The open call at a place. Throws `log-tampered` where there is none, or it has another status. */
export function callAt(
  { draft: { calls } }: Writing,
  event: ThreadEvent,
  place: CallPlace,
  statuses: readonly ToolCallRecord['status'][],
): ToolCallRecord {
  const call = calls[place.index];
  if (call?.step !== place.step || !statuses.includes(call.status)) {
    const status = call?.step === place.step ? call.status : 'absent';
    throw tampered(event, `call ${place.step}.${place.index} is ${status}`);
  }
  return call;
}

/** The error for an event that can't follow those before it. */
export function tampered(event: ThreadEvent, why: string): HoldpointError {
  return new HoldpointError(
    'log-tampered',
    `The log is damaged: '${event.type}' can't come here, as ${why}.`,
  );
}
