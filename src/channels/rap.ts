export type {
  CallbackHandlerOptions,
  DiscardedCallback,
} from './rap/from-server/callback-handler-options.ts';
export { checkRemoteCalls } from './rap/check-remote-calls.ts';
export { createCallbackHandler } from './rap/from-server/create-callback-handler.ts';
export { remoteTool, type RemoteToolOptions } from './rap/remote-tool.ts';
export { createToolServer, type ToolServer } from './rap/tool-server/create-tool-server.ts';
export type { GrantStore } from './rap/tool-server/grant-store.ts';
export type {
  ServedCall,
  ServedTool,
  ToolServerOptions,
} from './rap/tool-server/tool-server-options.ts';
