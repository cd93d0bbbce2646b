export { checkRemoteCalls } from './rap/remote-tool.ts';
export {
  type CallbackHandlerOptions,
  createCallbackHandler,
  type DiscardedCallback,
} from './rap/create-callback-handler.ts';
export { remoteTool, type RemoteToolOptions } from './rap/remote-tool.ts';
export { createToolServer, type ToolServer } from './rap/tool-server/create-tool-server.ts';
export type {
  GrantStore,
  ServedCall,
  ServedTool,
  ToolServerOptions,
} from './rap/tool-server/tool-server-options.ts';
