import { z } from 'zod';
import type { DeliveredOutcome } from '../../agent/agent-options.ts';
import type { AgentThread } from '../../thread/agent-thread.ts';
import type { ClientMessage } from './run-agent-input.ts';

/** The result of a call that the client ran. */
export interface BroughtResult {
  toolCallId: string;
  outcome: DeliveredOutcome;
}

/**
 * The results in a client's list that are its to bring: of calls of the tools that the app says are the client's, while they wait
 * for their result. Others are history, or forged.
 */
export function broughtResults(
  messages: readonly ClientMessage[],
  thread: AgentThread,
  clientTools: readonly string[],
): BroughtResult[] {
  const waiting = new Set(
    thread.calls
      .filter(({ status, toolName }) => status === 'deferred' && clientTools.includes(toolName))
      .map(({ toolCallId }) => toolCallId),
  );
  return messages.flatMap(({ role, toolCallId, content, error }): BroughtResult[] => {
    if (role !== 'tool' || toolCallId === undefined || !waiting.delete(toolCallId)) return [];
    const outcome: DeliveredOutcome =
      error === undefined
        ? { status: 'succeeded', output: resultText(content) }
        : { status: 'failed', error };
    return [{ toolCallId, outcome }];
  });
}

const contentSchema = z.union([
  z.string(),
  z.array(z.unknown()).transform((parts) => parts.map(partText).join('')),
]);
const textPartSchema = z.object({ type: z.literal('text'), text: z.string() });

/* A result is text here; other parts have no place in a call's output. */
function resultText(content: unknown): string {
  return contentSchema.safeParse(content).data ?? '';
}

function partText(part: unknown): string {
  return textPartSchema.safeParse(part).data?.text ?? '';
}
