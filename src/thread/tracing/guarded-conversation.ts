interface GuardedLog {
  /** The thread that is the log of the call. */
  threadId: string;
  /** The conversation that the call is of. */
  conversationId: string;
}

/* An async context rather than a parameter: to the code that works on it, the log of a guarded call is a thread like any other. */
const hooks = globalThis.process?.getBuiltinModule?.('node:async_hooks');
const guardedLog = hooks && new hooks.AsyncLocalStorage<GuardedLog>();

/** Does the work of a guarded call; its trace messages name the conversation. */
export function inConversation<RESULT>(log: GuardedLog, work: () => RESULT): RESULT {
  return guardedLog === undefined ? work() : guardedLog.run(log, work);
}

/** The conversation of a thread that is the log of a guarded call. */
export function conversationOf(threadId: string): string | undefined {
  const log = guardedLog?.getStore();
  return log?.threadId === threadId ? log.conversationId : undefined;
}
