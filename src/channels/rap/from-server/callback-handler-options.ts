import type { ToolSet } from 'ai';
import type { Agent } from '../../../agent/agent.ts';

/** Why a callback was discarded. */
export type DiscardReason =
  /** Its URL was not created for a call of these tools, or with another secret. */
  | 'capability'
  /** The tool's messages must be signed; this one is not, or not by its server. */
  | 'signature'
  /** The body is too long, not JSON, or not a message of the protocol. */
  | 'malformed'
  /** A type of message that is not supported, such as `oauth`. */
  | 'unsupported'
  /** Its `group_id`, `id` or `call_id` is not that of the call whose URL was used. */
  | 'mismatch'
  /** The call has ended or does not exist. */
  | 'ended'
  /** The origin of its `response_url` is not allowed. */
  | 'response-url'
  /** The call has asked too many questions, or too many of its messages are being handled. */
  | 'too-many';

/** A callback that was discarded, for the app's log. */
export interface DiscardedCallback {
  reason: DiscardReason;
  /** The thread and the call whose URL was used. */
  threadId?: string;
  toolCallId?: string;
  /** Details for developers. They may quote the sender. */
  detail?: string;
}

/** Options of `createCallbackHandler`. */
export interface CallbackHandlerOptions {
  agent: Pick<Agent, 'thread' | 'deliver' | 'requestAnswer'>;
  /** The agent's tools; callbacks are accepted for those that `remoteTool` created. */
  tools: ToolSet;
  /** The maximum length of a body, in bytes. Default 1 MiB. */
  maximumBodyBytes?: number;
  /** The maximum number of questions of one call. Default 20. */
  maximumQuestions?: number;
  /** Called with each discarded callback. The sender gets no reason. */
  onDiscarded?: (discarded: DiscardedCallback) => unknown;
}

/** The names of these options, and no others. */
export const callbackHandlerSettings = {
  agent: true,
  tools: true,
  maximumBodyBytes: true,
  maximumQuestions: true,
  onDiscarded: true,
} satisfies Record<keyof CallbackHandlerOptions, true>;
