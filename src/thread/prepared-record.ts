import type { Instructions, ModelMessage, ToolChoice, ToolSet } from 'ai';
import { z } from 'zod';

/**
 * What a step's request to the model had instead of the agent's own settings and the thread's messages, because `prepareStep` or an
 * option of the run said so.
 */
export const preparedSchema = z.strictObject({
  messages: z
    .array(z.custom<SentPart>((value) => typeof value === 'object' && value !== null))
    .optional(),
  /** How many messages the thread had; recorded with `messages`. */
  messageCount: z.int().optional(),
  instructions: z.custom<Instructions>((value) => value !== null).optional(),
  /** The id of the model. */
  model: z.string().optional(),
  activeTools: z.array(z.string()).optional(),
  toolChoice: z.custom<ToolChoice<ToolSet>>((value) => value !== null).optional(),
});

/** What a step's request had instead of the agent's own settings and the thread's messages. */
export type PreparedRecord = z.infer<typeof preparedSchema>;
/**
 * Messages that a step sent, in order: those of the thread from index `from` up to `to` (exclusive), the one that an earlier `step` recorded
 * at `index` of its list, or a `message` that is not in the thread.
 */
export type SentPart =
  | { from: number; to: number }
  | { step: number; index: number }
  | { message: ModelMessage };
