import { z } from 'zod';

/**
 * A list from outside. It is refused by its length before any item is read, and at its first item that does not fit: `z.array` reads all of
 * them, and makes an issue of each. Without `most`, only the length of its text limits it.
 */
/* @__NO_SIDE_EFFECTS__ */
export function boundList<ITEM>(item: z.ZodType<ITEM>, most = Infinity) {
  return z.unknown().transform((value, context): ITEM[] => {
    if (!Array.isArray(value)) {
      context.issues.push({ code: 'invalid_type', expected: 'array', input: value });
      return z.NEVER;
    }
    if (value.length > most) {
      const bound = { origin: 'array', maximum: most, inclusive: true };
      context.issues.push({ code: 'too_big', ...bound, input: value });
      return z.NEVER;
    }
    const items: ITEM[] = [];
    const given: readonly unknown[] = value;
    for (const [index, each] of given.entries()) {
      const { data, error } = item.safeParse(each);
      if (error !== undefined) {
        for (const { message, path } of error.issues) {
          context.issues.push({ code: 'custom', message, path: [index, ...path], input: each });
        }
        return z.NEVER;
      }
      items.push(data);
    }
    return items;
  });
}
