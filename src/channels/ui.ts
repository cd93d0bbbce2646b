export { createUiHandler } from './ui/create-ui-handler.ts';
export {
  lastAssistantMessageHasApprovalResponses,
  prepareReconnectToStreamRequest,
  prepareSendMessagesRequest,
  stopChat,
} from './ui/browser/for-use-chat.ts';
export { readRefusal } from './ui/browser/read-refusal.ts';
export type { ShownGroup } from './ui/browser/page-requests.ts';
export type { ShownRequest } from './ui/browser/request-form.ts';
export type { ShownPart } from './ui/browser/shown-part.ts';
export { ThreadChat } from './ui/browser/thread-chat.ts';
export { toUIMessages } from './ui/output/to-ui-messages.ts';
export { toUIMessageStream } from './ui/output/turn-streams.ts';
export type { UiHandlerOptions } from './ui/ui-handler-options.ts';
