import type { ToolCallRecord } from '../../content/tool-call.ts';
import type { DeliveredOutcome } from '../input/accept-outcome.ts';

/** How a tool's calls are recovered when the process that ran them is gone. */
export interface ToolRecovery {
  /**
   * Asks the tool's own server what became of a call, by its key: the outcome, or `undefined` when it can't tell. Asked
   * before anything else. Who says `failed` must see to it that the call can't happen any more: a process that only stalled may
   * still be on its way.
   */
  reconcile?: (call: {
    input: unknown;
    idempotencyKey: string;
    toolCallId: string;
  }) => DeliveredOutcome | undefined | PromiseLike<DeliveredOutcome | undefined>;
  /** Whether the call may be started again, with the same input and key, as the server does it once for a key. Default `false`. */
  idempotent?: boolean;
  /** How often it may be started in all, when it is idempotent. Default 3. */
  maxAttempts?: number;
}

/** How the tools' calls are recovered, by tool name. */
export type ToolRecoveries = Readonly<Record<string, ToolRecovery | undefined>>;

/* How often a call of an idempotent tool may be started in all. */
const defaultAttempts = 3;

/** Throws a `TypeError` for recovery of a name that is no tool's. */
export function checkRecovery(toolRecovery: object, tools: object): void {
  for (const name of Object.keys(toolRecovery)) {
    if (Object.hasOwn(tools, name)) continue;
    throw new TypeError(`toolRecovery names '${name}', which is not a tool of this agent.`);
  }
}

/** The recovery that the app gave for a call's tool. */
export function recoveryOf(
  toolRecovery: ToolRecoveries,
  { toolName }: ToolCallRecord,
): ToolRecovery {
  return new Map(Object.entries(toolRecovery)).get(toolName) ?? {};
}

/** Whether a call may be started again by itself. */
export function mayStartAgain(toolRecovery: ToolRecoveries, call: ToolCallRecord): boolean {
  const { idempotent = false, maxAttempts = defaultAttempts } = recoveryOf(toolRecovery, call);
  return idempotent && call.attempts < maxAttempts;
}
