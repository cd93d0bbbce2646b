export type { CallbackSecret } from './rap/callback-capability.ts';
export type {
  CallbackHandlerOptions,
  DiscardedCallback,
  DiscardReason,
} from './rap/callback-handler-options.ts';
export { createCallbackHandler } from './rap/create-callback-handler.ts';
export { remoteTool, type RemoteToolOptions } from './rap/remote-tool.ts';
export type { SigningOptions } from './rap/webhook-signatures.ts';
