export { askInTerminal, type AskOptions } from './terminal/ask-in-terminal.ts';
export { renderCall, renderRequest } from './terminal/render-request.ts';
export { getUserChoice, terminalUserInterface } from './terminal/user-interface.ts';
export type { UserInterface } from './terminal/numbered-dialog.ts';
