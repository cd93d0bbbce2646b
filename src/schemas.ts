/*
 * Zod schemas of the JSON that an app sends, receives and keeps, for pages, webhooks and exports that check it; and the reader of a log
 * entry's text. Agents and stores need none of them.
 */
export { approvalRequestSchema, approvalResponseSchema } from './content/approval.ts';
export { questionRequestSchema, questionResponseSchema } from './content/question.ts';
export { requestRightsSchema } from './content/request-rights.ts';
export { toolCallRecordSchema } from './content/tool-call.ts';
export { eventsOf } from './thread/log-entry.ts';
export { sentMessages } from './thread/finished-steps.ts';
export { threadEventSchema } from './thread/thread-event.ts';
