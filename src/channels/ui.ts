export { createUiHandler } from './ui/create-ui-handler.ts';
export {
  prepareReconnectToStreamRequest,
  prepareSendMessagesRequest,
} from './ui/prepare-requests.ts';
export { type Refusal, readRefusal } from './ui/read-refusal.ts';
export { lastAssistantMessageHasApprovalResponses } from './ui/send-automatically.ts';
export { stopChat } from './ui/stop-chat.ts';
export { ThreadChat } from './ui/thread-chat.ts';
export type { ThreadChatOptions, ThreadChatState, ThreadProblem } from './ui/thread-chat-state.ts';
export { toUIMessages } from './ui/to-ui-messages.ts';
export { toUIMessageStream, type UIMessageStreamOptions } from './ui/to-ui-message-stream.ts';
export type { UiHandlerOptions } from './ui/ui-handler-options.ts';
