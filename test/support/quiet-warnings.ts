/* The AI SDK prints the warnings of models, of which tests have many on purpose. */
Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });

/* Tests share a process, and leave dialogs open in it: each listens for the end of the process. */
process.setMaxListeners(100);
