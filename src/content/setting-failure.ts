import type { ToolCall } from './tool-call.ts';

/** What is wrong with a setting of the app: it threw, said something invalid, read a field that its tool doesn't have, or asks what nobody can answer. */
export interface SettingFault {
  kind: 'error' | 'invalid' | 'unknown-field' | 'unanswerable' | 'unreadable-schema';
  /** What is wrong, as a sentence. It may name fields, and quotes no values. */
  problem: string;
  /** What the setting threw. */
  error?: unknown;
}

/** A fault in a setting of the app. The agent asked or refused because of it, where it might have run a call. It is not in the log. */
export interface SettingFailure extends SettingFault {
  /** The thread; absent for a schema, which is read once for all threads. */
  threadId?: string;
  /** The setting at fault, such as `toolApproval.pay`. */
  setting: string;
  /** The call that was decided on; `undefined` if there is none. */
  toolCall?: ToolCall | undefined;
}
