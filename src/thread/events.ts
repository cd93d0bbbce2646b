/* The part of `events/` that the rest of the package may use; `thread-event.ts` has the union. Nothing in `thread` imports this. */
export { applyToRequest, withEdit } from './events/changed-request.ts';
export type { ParentCall } from './events/fields.ts';
export type { PreparedRecord, SentPart, Source, StepMetadata } from './events/steps.ts';
