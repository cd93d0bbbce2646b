export { createInboxHandler } from './inbox/create-inbox-handler.ts';
export type { FieldFormat } from '../view/field-format.ts';
export type { InboxDetail } from './inbox/shown-fields.ts';
export type { InboxHandlerOptions, InboxSignIn } from './inbox/inbox-handler-options.ts';
