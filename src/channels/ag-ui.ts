export type { AgUiHandlerOptions } from './ag-ui/ag-ui-handler-options.ts';
export { createAgUiHandler } from './ag-ui/create-ag-ui-handler.ts';
