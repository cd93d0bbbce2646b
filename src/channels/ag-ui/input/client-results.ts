import { z } from 'zod';
import type { DeliveredOutcome } from '../../../agent/input.ts';
import { HoldpointError } from '../../../errors.ts';
import type { AgentThread } from '../../../thread/agent-thread.ts';
import type { ClientMessage } from './run-agent-input.ts';

/** The result of a call that the client ran. */
export interface ClientResult {
  toolCallId: string;
  outcome: DeliveredOutcome;
}

/**
 * The results in a client's list that are new: those of deferred calls of `clientTools`. Others are history, or forged, and are ignored.
 * Throws `invalid-input` for a result that is not text, because a recorded result can't be corrected.
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

/* A result is text here; other parts are dropped. */
function resultText(content: unknown, toolCallId: string): string {
  const parsed = contentSchema.safeParse(content);
  if (parsed.success) return parsed.data;
  throw new HoldpointError(
    'invalid-input',
    `The result of call ${toolCallId} is not text; send its content as a string or as text parts.`,
  );
}

function partText(part: unknown): string {
  return textPartSchema.safeParse(part).data?.text ?? '';
}
