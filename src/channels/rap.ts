export { checkRemoteCalls } from './rap/check-remote-calls.ts';
export {
  type CallbackHandlerOptions,
  createCallbackHandler,
} from './rap/from-server/create-callback-handler.ts';
export type { DiscardedCallback } from './rap/from-server/record-callback.ts';
export { remoteTool, type RemoteToolOptions } from './rap/remote-tool.ts';
export { createToolServer, type ToolServer } from './rap/tool-server/create-tool-server.ts';
export type { GrantStore } from './rap/tool-server/grant-store.ts';
export type {
  ServedCall,
  ServedTool,
  ToolServerOptions,
} from './rap/tool-server/tool-server-options.ts';
