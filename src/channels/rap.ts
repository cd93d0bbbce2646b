export type { CallbackSecret } from './rap/callback-url.ts';
export type {
  CallbackHandlerOptions,
  DiscardedCallback,
  DiscardReason,
} from './rap/from-server/callback-handler-options.ts';
export { checkRemoteCalls, type RemoteCallCheck } from './rap/check-remote-calls.ts';
export { createCallbackHandler } from './rap/from-server/create-callback-handler.ts';
export { remoteTool, type RemoteToolOptions } from './rap/remote-tool.ts';
export type { SigningOptions } from './rap/webhook-signatures.ts';
export { createToolServer, type ToolServer } from './rap/tool-server/create-tool-server.ts';
export type { GrantStore, SessionGrants } from './rap/tool-server/grant-store.ts';
export type {
  Selection,
  ServedCall,
  ServedTool,
  ServedTools,
  SessionPermission,
  ToolServerOptions,
  ChoicePrompt,
} from './rap/tool-server/tool-server-options.ts';
