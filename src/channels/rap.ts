export { createToolServer, type ToolServer } from './rap/tool-server/create-tool-server.ts';
export type { GrantStore, SessionGrants } from './rap/tool-server/grant-store.ts';
export type {
  Selection,
  ServedCall,
  ServedTool,
  ServedTools,
  SessionPermission,
  ToolServerOptions,
  UserChoice,
} from './rap/tool-server/tool-server-options.ts';
