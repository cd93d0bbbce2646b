import type { Instructions, ModelMessage, ToolChoice, ToolSet } from 'ai';

/**
 * How a step's request to the model differed from the thread's messages and the agent's settings: what `prepareStep` returned, or the run's
 * options.
 */
export interface PreparedRecord {
  messages?: readonly SentPart[];
  /** How many messages the thread had; recorded with `messages`. */
  messageCount?: number;
  instructions?: Instructions | undefined;
  /** The id of the model. */
  model?: string | undefined;
  activeTools?: readonly string[] | undefined;
  toolChoice?: ToolChoice<ToolSet> | undefined;
}

/**
 * Messages that a step sent, in order: those of the thread from index `from` up to `to` (exclusive), the one that an earlier `step` recorded
 * at `index` of its list, or a `message` that is not in the thread.
 */
export type SentPart =
  | { from: number; to: number }
  | { step: number; index: number }
  | { message: ModelMessage };
