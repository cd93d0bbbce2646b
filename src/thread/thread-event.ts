import { z } from 'zod';
import { renderSchemaError } from '../json/field-fault.ts';
import { isPlainObject } from '../json/json-value.ts';
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

/** Checks whether a value is valid. */
type QuickCheck = (value: unknown) => boolean;

const quickChecks = new Map<ThreadEventType, QuickCheck>();

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
function findQuickCheck(type: ThreadEventType): QuickCheck {
  const schema = threadEventSchema.options.find(({ shape }) => shape.type.value === type);
  const check = schema === undefined ? () => false : makeQuickCheck(schema);
  quickChecks.set(type, check);
  return check;
}

/**
 * Makes a check for values that this package made, which copies nothing and costs a fraction of a parse. It accepts no value that the
 * schema refuses, but refuses some that the schema accepts: refused values must be parsed.
 */
export function makeQuickCheck(schema: z.core.$ZodType): QuickCheck {
  const isPlain = schema instanceof z.ZodType && (schema.def.checks ?? []).length === 0;
  const check = isPlain ? makePlainCheck(schema) : undefined;
  return check ?? ((value) => z.safeParse(schema, value).success);
}

/** The check of a schema without refinements; `undefined` for a kind that few events have. */
function makePlainCheck(schema: z.ZodType): QuickCheck | undefined {
  if (schema instanceof z.ZodUnknown) return () => true;
  if (schema instanceof z.ZodString) return (value) => typeof value === 'string';
  if (schema instanceof z.ZodNumber) return numberChecks.get(schema.format);
  if (schema instanceof z.ZodLiteral) {
    const values = new Set<unknown>(schema.def.values);
    return (value) => values.has(value);
  }
  if (schema instanceof z.ZodCustom) {
    const { fn } = schema.def;
    return (value) => fn(value) === true;
  }
  if (schema instanceof z.ZodOptional) {
    const check = makeQuickCheck(schema.def.innerType);
    return (value) => value === undefined || check(value);
  }
  if (schema instanceof z.ZodUnion) {
    const checks = schema.def.options.map(makeQuickCheck);
    return (value) => checks.some((check) => check(value));
  }
  if (schema instanceof z.ZodArray) {
    const check = makeQuickCheck(schema.def.element);
    /* A copy, as `every` skips the holes of a sparse array. */
    return (value) => Array.isArray(value) && Array.from<unknown>(value).every(check);
  }
  return schema instanceof z.ZodObject ? makeObjectCheck(schema.def) : undefined;
}

const numberChecks = new Map<string | null, QuickCheck>([
  [null, Number.isFinite],
  ['safeint', Number.isSafeInteger],
]);

/** The check of a plain object that has all required fields and no unknown one. */
function makeObjectCheck({ shape, catchall }: z.ZodObject['def']): QuickCheck | undefined {
  if (!(catchall instanceof z.ZodNever)) return undefined;
  const fields = new Map<string, { check: QuickCheck; isRequired: boolean }>();
  let required = 0;
  for (const [name, field] of Object.entries<z.core.$ZodType>(shape)) {
    const isRequired = !(field instanceof z.ZodOptional) || (field.def.checks ?? []).length > 0;
    if (isRequired) required += 1;
    fields.set(name, { check: makeQuickCheck(field), isRequired });
  }
  return (value) => {
    if (!isPlainObject(value)) return false;
    let missing = required;
    for (const name in value) {
      const field = fields.get(name);
      if (field === undefined || !field.check(value[name])) return false;
      if (field.isRequired) missing -= 1;
    }
    return missing === 0;
  };
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
