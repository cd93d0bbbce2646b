import type { ToolSet } from 'ai';
import type { ToolCallRecord } from '../../content/tool-call.ts';
import { findDelegation } from '../calls/delegation.ts';
import { isHeld } from '../../thread/thread-head.ts';
import type { DeliveredOutcome } from '../calls/delivered-outcome.ts';

/** Recovers a tool's calls when their process died. */
export interface ToolRecovery {
  /**
   * Asks the tool's server for the outcome of a call, by its idempotency key; `undefined` if it is unknown. Called before anything else is
   * tried. Return `failed` only if the call can no longer happen: a process that merely stalled may still execute it.
   */
  reconcile?: (call: {
    input: unknown;
    idempotencyKey: string;
    toolCallId: string;
  }) => DeliveredOutcome | undefined | PromiseLike<DeliveredOutcome | undefined>;
  /** True if the call may be restarted with the same input and key, because the server executes it once for a key. Default `false`. */
  idempotent?: boolean;
  /** The maximum number of starts of an idempotent call, the first included. Default 3. */
  maxAttempts?: number;
}

/** Recovery of the tools' calls, by tool name. */
export type ToolRecoveries = Readonly<Record<string, ToolRecovery | undefined>>;

/* The default maximum number of starts. */
const defaultAttempts = 3;

/** Throws a `TypeError` for a name that is not a tool's. */
export function checkRecovery(toolRecovery: object, tools: object): void {
  for (const name of Object.keys(toolRecovery)) {
    if (Object.hasOwn(tools, name)) continue;
    throw new TypeError(`toolRecovery names '${name}', which is not a tool of this agent.`);
  }
}

/** The recovery options of a call's tool. */
export function findRecovery(
  toolRecovery: ToolRecoveries,
  { toolName }: ToolCallRecord,
): ToolRecovery {
  return new Map(Object.entries(toolRecovery)).get(toolName) ?? {};
}

/**
 * Checks whether a call may be restarted automatically, which a stop prevents. A delegated call is resumed: its child thread has recorded
 * what happened.
 */
export function mayStartAgain(
  { toolRecovery, tools }: { toolRecovery: ToolRecoveries; tools: ToolSet },
  call: ToolCallRecord,
): boolean {
  const { idempotent = false, maxAttempts = defaultAttempts } = findRecovery(toolRecovery, call);
  const mayRetry = idempotent && call.attempts < maxAttempts && !isHeld(call);
  return findDelegation(tools, call) !== undefined || mayRetry;
}
