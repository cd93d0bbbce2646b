/* The part of `input/` that the rest of the package may use: channels, the middleware, agents as tools. Nothing in `agent` imports this. */
export type { DeliveredOutcome, SettledOutcome } from './calls/delivered-outcome.ts';
export { type ImportedHistory, makeImportError } from './input/import-history.ts';
export type {
  AnswerOptions,
  InputItem,
  MayAnswer,
  RespondOptions,
  RunInput,
} from './input/parse-input.ts';
