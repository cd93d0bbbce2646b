import type { UIMessageChunk } from 'ai';
import type { AgentThread } from '../../../thread/agent-thread.ts';
import { ApprovalIds } from '../../../thread/approval-ids.ts';
import { approvalRequestChunk } from './call-chunks.ts';
import { stepParts } from './step-parts.ts';
import type { ThreadViewOptions } from './thread-view-options.ts';

/** The calls of the last step that have not ended, with their open requests, as a step of a new message. */
export function openCallChunks(
  { events, calls, activeRequests }: AgentThread,
  options: ThreadViewOptions,
): UIMessageChunk[] {
  const step = events.findLast((event) => event.type === 'step-finished');
  if (step === undefined) return [];
  const ids = new ApprovalIds(events);
  const open = new Map(activeRequests.map((request) => [request.requestId, request]));
  const { parts } = stepParts(step, options);
  const chunks = parts.flatMap((part): UIMessageChunk[] => {
    if (part.type !== 'tool') return [];
    const call = calls.findLast(
      (each) => each.step === step.step && each.toolCallId === part.toolCallId,
    );
    if (call === undefined || call.outcome !== undefined) return [];
    const request = open.get(call.requestId ?? '');
    if (request === undefined) return [part.available];
    const asked = approvalRequestChunk(request, ids.changesOf(request.requestId));
    return [part.available, asked];
  });
  return [{ type: 'start-step' }, ...chunks, { type: 'finish-step' }];
}
