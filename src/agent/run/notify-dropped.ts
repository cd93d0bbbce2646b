import type { ToolSet } from 'ai';
import { plainCopy } from '../../content/plain-copy.ts';
import type { ToolCallRecord } from '../../content/tool-call.ts';
import type { ThreadEvent } from '../../thread/thread-event.ts';
import { isSamePlace, type ThreadState } from '../../thread/thread-state.ts';
import { answerReceiverOf } from '../calls/answer-receiver.ts';
import { callGuarded } from './agent-events.ts';

/** Tells the tools of calls that went on elsewhere and have ended here without them: cancelled, expired, given up. */
export function notifyDropped(
  tools: ToolSet,
  state: Readonly<ThreadState>,
  committed: readonly ThreadEvent[],
): void {
  for (const event of committed) {
    if (event.type !== 'call-ended' || event.source !== undefined) continue;
    const isEnded = (each: ToolCallRecord): boolean => isSamePlace(each, event);
    const call = state.head.calls.find(isEnded) ?? state.pastCalls.findLast(isEnded);
    const forget = call && forgetOf(tools, call.toolName);
    if (call === undefined || forget === undefined || !wentOn(state, call)) continue;
    const { toolCallId, toolName, input, idempotencyKey } = call;
    const forgotten = { threadId: state.threadId, toolCallId, toolName, idempotencyKey };
    void callGuarded(forget, { ...forgotten, input: plainCopy(input) });
  }
}

function forgetOf(tools: ToolSet, toolName: string) {
  const tool = new Map(Object.entries(tools)).get(toolName);
  return tool && answerReceiverOf(tool)?.forget;
}

/* One that did not go on has ended by what its own tool said. */
function wentOn({ events }: Readonly<ThreadState>, call: ToolCallRecord): boolean {
  return events.some((event) => event.type === 'call-deferred' && isSamePlace(event, call));
}
