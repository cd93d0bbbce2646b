interface GuardedLog {
  /** The thread that records the call. */
  threadId: string;
  /** The conversation that the call belongs to. */
  conversationId: string;
}

/* An async context rather than a parameter, because other code treats the thread of a guarded call like any thread. */
const hooks = globalThis.process?.getBuiltinModule?.('node:async_hooks');
const guardedLog = hooks && new hooks.AsyncLocalStorage<GuardedLog>();

/** Runs the work of a guarded call, so that its trace messages name the conversation. */
export function runInConversation<RESULT>(log: GuardedLog, work: () => RESULT): RESULT {
  return guardedLog === undefined ? work() : guardedLog.run(log, work);
}

/** The conversation of a guarded call, for the thread that records the call. */
export function findConversation(threadId: string): string | undefined {
  const log = guardedLog?.getStore();
  return log?.threadId === threadId ? log.conversationId : undefined;
}
