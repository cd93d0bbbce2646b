import { z } from 'zod';
import type { DeliveredOutcome } from '../../../agent/input/accept-outcome.ts';
import { HoldpointError } from '../../../errors.ts';
import type { AgentThread } from '../../../thread/agent-thread.ts';
import type { ClientMessage } from './run-agent-input.ts';

/** The result of a call that the client ran. */
export interface ClientResult {
  toolCallId: string;
  outcome: DeliveredOutcome;
}

/**
 * The results in a client's list that are its to bring: of calls of the tools that the app says are the client's, while they wait
 * for their result. Others are history, or forged. Throws `invalid-input` for one that is no text: what is recorded stays.
 */
export function clientResults(
  messages: readonly ClientMessage[],
  thread: AgentThread,
  clientTools: readonly string[],
): ClientResult[] {
  const waiting = new Set(
    thread.calls
      .filter(({ status, toolName }) => status === 'deferred' && clientTools.includes(toolName))
      .map(({ toolCallId }) => toolCallId),
  );
  return messages.flatMap(({ role, toolCallId, content, error }): ClientResult[] => {
    if (role !== 'tool' || toolCallId === undefined || !waiting.delete(toolCallId)) return [];
    const outcome: DeliveredOutcome =
      error === undefined
        ? { status: 'succeeded', output: resultText(content, toolCallId) }
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
function resultText(content: unknown, toolCallId: string): string {
  const parsed = contentSchema.safeParse(content);
  if (parsed.success) return parsed.data;
  throw new HoldpointError('invalid-input', `The result of call ${toolCallId} is no text.`);
}

function partText(part: unknown): string {
  return textPartSchema.safeParse(part).data?.text ?? '';
}
