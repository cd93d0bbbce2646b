import { z } from 'zod';
import { renderSchemaError } from '../json/field-fault.ts';
import { makeQuickCheck } from '../json/quick-check.ts';
import { HoldpointError } from '../errors.ts';
import { answerSchemas } from './events/answers.ts';
import { callerSchemas } from './events/callers.ts';
import { callSchemas } from './events/calls.ts';
import { grantSchemas } from './events/grants.ts';
import { messageSchemas } from './events/messages.ts';
import { requestSchemas } from './events/requests.ts';
import { runSchemas } from './events/runs.ts';
import { stepSchemas } from './events/steps.ts';
import { lifecycleSchemas } from './events/thread.ts';
import { voteSchemas } from './events/votes.ts';

/**
 * Everything that can happen in a thread. Events are facts and never change. `at` is the time, in milliseconds since 1970. A call is
 * identified by its place, `step` and `index`, because models repeat tool call ids.
 */
export const threadEventSchema = z.discriminatedUnion('type', [
  ...lifecycleSchemas,
  ...messageSchemas,
  ...runSchemas,
  ...stepSchemas,
  ...requestSchemas,
  ...answerSchemas,
  ...voteSchemas,
  ...grantSchemas,
  ...callSchemas,
  ...callerSchemas,
]);

/** An event of a thread. `thread.events` has them all, oldest first; `agent.on(type, …)` reports new ones. */
export type ThreadEvent = z.infer<typeof threadEventSchema>;
/** The type of a thread event, which is also its name for `agent.on`. */
export type ThreadEventType = ThreadEvent['type'];
/** The thread event of a type. */
export type ThreadEventOf<TYPE extends ThreadEventType> = Extract<ThreadEvent, { type: TYPE }>;

const quickChecks = new Map<ThreadEventType, (value: unknown) => boolean>();

/**
 * Throws `invalid-input` for an event that can't be read again, because an app passed NaN as a time, for example: it would make the whole
 * log unreadable.
 */
export function refuseUnreadable(event: ThreadEvent): void {
  const { type } = event;
  const check = quickChecks.get(type) ?? findQuickCheck(type);
  if (check(event)) return;
  const { error } = threadEventSchema.safeParse(event);
  if (error === undefined) return;
  throw new HoldpointError(
    'invalid-input',
    `The event '${type}' can't be recorded: ${renderSchemaError(error)}`,
  );
}

/* Made for the first event of a type, as a process rarely sees them all. */
function findQuickCheck(type: ThreadEventType): (value: unknown) => boolean {
  const schema = threadEventSchema.options.find(({ shape }) => shape.type.value === type);
  const check = schema === undefined ? () => false : makeQuickCheck(schema);
  quickChecks.set(type, check);
  return check;
}

/** A function for each type of event, or for each of some types. A table that lacks one does not compile. */
export type PerEvent<CONTEXT, RESULT, TYPES extends ThreadEventType = ThreadEventType> = {
  readonly [TYPE in TYPES]: (event: ThreadEventOf<TYPE>, context: CONTEXT) => RESULT;
};

/** Calls the function of a table for an event and its `type`. */
export function callPerEvent<TYPE extends ThreadEventType, CONTEXT, RESULT>(
  table: PerEvent<CONTEXT, RESULT, TYPE>,
  type: TYPE,
  event: ThreadEventOf<TYPE>,
  context: CONTEXT,
): RESULT {
  return table[type](event, context);
}
