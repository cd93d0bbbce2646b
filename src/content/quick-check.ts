import { z } from 'zod';

/** Whether a value is valid. */
type QuickCheck = (value: unknown) => boolean;

/**
 * Makes a check for what we made ourselves, which copies nothing and costs a fraction of a parse. It accepts no value that the schema
 * refuses, but refuses some that the schema accepts: what it refuses must be parsed.
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
  if (schema instanceof z.ZodBoolean) return (value) => typeof value === 'boolean';
  if (schema instanceof z.ZodLiteral) return makeListCheck(schema.def.values);
  if (schema instanceof z.ZodEnum) return makeListCheck(schema.options);
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
  if (schema instanceof z.ZodArray) return makeArrayCheck(makeQuickCheck(schema.def.element));
  return schema instanceof z.ZodObject ? makeObjectCheck(schema.def) : undefined;
}

const numberChecks = new Map<string | null, QuickCheck>([
  [null, Number.isFinite],
  ['safeint', Number.isSafeInteger],
]);

function makeListCheck(allowed: readonly unknown[]): QuickCheck {
  const [only] = allowed;
  return allowed.length === 1 ? (value) => value === only : (value) => allowed.includes(value);
}

function makeArrayCheck(check: QuickCheck): QuickCheck {
  return (value) => {
    if (!Array.isArray(value)) return false;
    /* `every` would skip holes. */
    for (const item of value) if (!check(item)) return false;
    return true;
  };
}

/** The check of an object that has all required fields and no unknown one. */
function makeObjectCheck({ shape, catchall }: z.ZodObject['def']): QuickCheck | undefined {
  if (!(catchall instanceof z.ZodNever)) return undefined;
  const fields = new Map<string, { check: QuickCheck; isOptional: boolean }>();
  let required = 0;
  for (const [name, field] of Object.entries<z.core.$ZodType>(shape)) {
    const isOptional = field instanceof z.ZodOptional && (field.def.checks ?? []).length === 0;
    fields.set(name, { check: makeQuickCheck(field), isOptional });
    if (!isOptional) required += 1;
  }
  return (value) => {
    if (!isPlainObject(value)) return false;
    let found = 0;
    for (const name in value) {
      const field = fields.get(name);
      const item = value[name];
      if (field?.check(item) !== true) return false;
      if (!field.isOptional) found += 1;
    }
    return found === required;
  };
}

function isPlainObject(value: unknown): value is Record<string, unknown> {
  return (
    typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
  );
}
