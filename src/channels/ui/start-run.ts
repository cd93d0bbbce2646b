import type { AgentStream, AgentStreamEvent } from '../../agent/agent-stream.ts';
import type { InputItem } from '../../agent/input.ts';
import { HoldpointError } from '../../errors.ts';
import type { RefusedAnswer } from '../../http/error-response.ts';
import { withFirst } from './output/chunk-stream.ts';

/** The result of an input: a run without the answers that were refused, or the error that refuses the whole input. */
export type StartedInput =
  | { type: 'started'; events: AsyncIterable<AgentStreamEvent>; refused: RefusedAnswer[] }
  | { type: 'refused'; error: unknown; refused: RefusedAnswer[] };

/**
 * Starts a run with the answers that the agent accepts, and records them with one append: each answer that it refuses is left out, and the
 * others are tried again. `mayRunEmpty`: whether to run if no item is left.
 */
export async function startRun(
  items: readonly InputItem[],
  start: (items: readonly InputItem[]) => AgentStream,
  mayRunEmpty: boolean,
): Promise<StartedInput> {
  const refused: RefusedAnswer[] = [];
  for (let left = items; ;) {
    const events = start(left)[Symbol.asyncIterator]();
    const first = await events.next();
    if (first.value?.type !== 'error') {
      return { type: 'started', events: withFirst(first, events), refused };
    }
    const { error } = first.value;
    const rest = left.filter((item) => !isRefusedBy(error, item));
    if (rest.length === left.length || !HoldpointError.isInstance(error)) {
      return { type: 'refused', error, refused };
    }
    const { requestId = '', code, message } = error;
    refused.push({ requestId, code, message });
    if (rest.length === 0 && !mayRunEmpty) return { type: 'refused', error, refused };
    left = rest;
  }
}

function isRefusedBy(error: unknown, item: InputItem): boolean {
  if (!HoldpointError.isInstance(error) || error.requestId === undefined) return false;
  return typeof item === 'object' && 'requestId' in item && item.requestId === error.requestId;
}
