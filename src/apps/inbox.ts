export { createInboxHandler } from './inbox/create-inbox-handler.ts';
export type { InboxHandlerOptions } from './inbox/inbox-handler-options.ts';
