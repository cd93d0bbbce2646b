/* The AI SDK prints the warnings of models, of which tests have many on purpose. */
Object.assign(globalThis, { AI_SDK_LOG_WARNINGS: false });
