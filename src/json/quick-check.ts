import { z } from 'zod';
import { isPlainObject } from './json-value.ts';

/** Checks whether a value is valid. */
type QuickCheck = (value: unknown) => boolean;

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
