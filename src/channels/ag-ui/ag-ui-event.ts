import type { RequestRights } from '../../content/request-rights.ts';
import type { UserInputRequest } from '../../content/user-input.ts';
import type { RefusedAnswer } from '../../errors.ts';
import type { ShownDecision } from '../../view/thread-items.ts';

/** A message of the conversation in AG-UI. Fields without a value are left out: AG-UI does not allow `null`. */
export type AgUiMessage =
  | { id: string; role: 'user'; content: string | AgUiPart[] }
  | { id: string; role: 'assistant'; content?: string; toolCalls?: AgUiToolCall[] }
  | { id: string; role: 'reasoning'; content: string }
  | {
      id: string;
      role: 'tool';
      toolCallId: string;
      content: string;
      metadata: ResultMetadata;
    };

/** A part of a user's message. */
export type AgUiPart =
  | { type: 'text'; text: string }
  | {
      type: 'image' | 'audio' | 'video' | 'document';
      source: { type: 'url'; value: string; mimeType: string };
    };

/** A call in the message that made it. */
export interface AgUiToolCall {
  id: string;
  type: 'function';
  function: { name: string; arguments: string };
}

/** The status of a call, in addition to the text of its result, and the decision about its request, if a known person made it. */
export interface ResultMetadata {
  holdpoint: { status: 'succeeded' | 'failed' | 'denied'; decision?: ShownDecision };
}

/** An open request that ends a run. */
export interface Interrupt {
  id: string;
  reason: 'tool_call' | 'input_required' | 'confirmation';
  message: string;
  toolCallId?: string;
  responseSchema: Record<string, unknown>;
  /** ISO 8601. */
  expiresAt?: string;
  /**
   * The whole request, with its options and digest; who asked for it, as one line for people; and the rights of the run's person, if they
   * can be found out.
   */
  metadata: { holdpoint: UserInputRequest; requestedBy?: string; rights?: RequestRights };
}

/** The outcome of a run that did not fail. */
type RunOutcome =
  | { type: 'success'; pendingToolCallIds?: string[] }
  | { type: 'interrupt'; interrupts: Interrupt[] }
  | { type: 'cancelled' };

/** The last event of a run that did not fail. */
export interface RunFinished {
  type: 'RUN_FINISHED';
  threadId: string;
  runId: string;
  /** For clients before 1.0 only `success` without ids, and `interrupt`: any other makes them reject the whole run. */
  outcome?: RunOutcome;
  /** For clients before 1.0: the part that their `outcome` can't express. */
  result?:
    | { status: 'cancelled' | 'max-steps' }
    | { status: 'waiting'; pendingToolCallIds: string[] };
}

/** The events of AG-UI 1.0 that are emitted here. */
export type AgUiEvent =
  | { type: 'RUN_STARTED'; threadId: string; runId: string; protocolVersion: '1.0' }
  | RunFinished
  /** `refusedAnswers` has the answers that were refused, each with the field that caused it and the reason. */
  | {
      type: 'RUN_ERROR';
      message: string;
      code: string;
      metadata?: { refusedAnswers: RefusedAnswer[] };
    }
  | { type: 'TEXT_MESSAGE_START'; messageId: string; role: 'assistant' | 'user' }
  | { type: 'REASONING_MESSAGE_START'; messageId: string; role: 'reasoning' }
  | {
      type: 'TEXT_MESSAGE_CONTENT' | 'REASONING_MESSAGE_CONTENT';
      messageId: string;
      delta: string;
    }
  | {
      type: 'TEXT_MESSAGE_END' | 'REASONING_START' | 'REASONING_MESSAGE_END' | 'REASONING_END';
      messageId: string;
    }
  | {
      type: 'TOOL_CALL_START';
      toolCallId: string;
      toolCallName: string;
      parentMessageId: string;
    }
  | { type: 'TOOL_CALL_ARGS'; toolCallId: string; delta: string }
  | { type: 'TOOL_CALL_END'; toolCallId: string }
  | {
      type: 'TOOL_CALL_RESULT';
      messageId: string;
      toolCallId: string;
      content: string;
      role: 'tool';
      metadata: ResultMetadata;
    }
  | { type: 'STATE_SNAPSHOT'; snapshot: unknown }
  | { type: 'MESSAGES_SNAPSHOT'; messages: AgUiMessage[] }
  | { type: 'CUSTOM'; name: string; value: unknown };
