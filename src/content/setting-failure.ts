import type { ToolCall } from './tool-call.ts';

/** What is wrong with a setting of the app: it threw, returned something invalid, read a field that its tool doesn't have, or makes a request that nobody could answer. */
export interface SettingFault {
  kind: 'error' | 'invalid' | 'unknown-field' | 'unanswerable' | 'unreadable-schema';
  /** What is wrong, as a sentence. It may name fields, and quotes no values. */
  problem: string;
  /** What the setting threw. */
  error?: unknown;
}

/** A mistake in a setting of the app. Because of it, the agent asked or refused where it might have run a call. It is not in the log. */
export interface SettingFailure extends SettingFault {
  /** The thread; absent for a schema, which is read once for all threads. */
  threadId?: string;
  /** The setting with the mistake, such as `toolApproval.pay`. */
  setting: string;
  /** The call that was being decided on; `undefined` without one. */
  toolCall?: ToolCall | undefined;
}
