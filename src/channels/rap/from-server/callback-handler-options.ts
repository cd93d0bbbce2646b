import type { ToolSet } from 'ai';
import type { Agent } from '../../../agent/agent.ts';

/** Why a callback came to nothing. */
export type DiscardReason =
  /** Its URL was not made for any call of these tools, or with another secret. */
  | 'capability'
  /** The tool's messages are to be signed, and this one is not, or not by its server. */
  | 'signature'
  /** The body is too long, no JSON, or not a message as the protocol has it. */
  | 'malformed'
  /** A type of message that is not taken here, such as `oauth`. */
  | 'unsupported'
  /** Its `group_id`, `id` or `call_id` are not those of the call whose URL it came to. */
  | 'mismatch'
  /** The call has ended, or there is none. */
  | 'ended'
  /** Answers may not be sent to its `response_url`. */
  | 'response-url'
  /** The call has asked too often, or its server says too much at once. */
  | 'too-many';

/** A callback that came to nothing, for the app's log. */
export interface DiscardedCallback {
  reason: DiscardReason;
  /** Of the call whose URL it came to. */
  threadId?: string;
  toolCallId?: string;
  /** What else there is to say, for developers. It may quote the sender. */
  detail?: string;
}

/** How tool servers reach an agent. */
export interface CallbackHandlerOptions {
  agent: Pick<Agent, 'thread' | 'deliver' | 'requestAnswer'>;
  /** The agent's tools; callbacks are taken for those that `remoteTool` made. */
  tools: ToolSet;
  /** How long a body may be. Default 1 MiB. */
  maximumBodyBytes?: number;
  /** How many questions one call may ask, all in all. Default 20. */
  maximumQuestions?: number;
  /** Hears of what was dropped; the sender is not told. */
  onDiscarded?: (discarded: DiscardedCallback) => unknown;
}
