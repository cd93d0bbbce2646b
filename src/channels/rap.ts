export { createCallbackHandler } from './rap/create-callback-handler.ts';
export { checkRemoteCalls, remoteTool } from './rap/remote-tool.ts';
export { createToolServer, type ToolServer } from './rap/tool-server/create-tool-server.ts';
export type { GrantStore, ServedTool } from './rap/tool-server/tool-server-options.ts';
