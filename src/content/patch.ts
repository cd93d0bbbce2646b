import { z } from 'zod';

/** A change of one value, as immer writes it. `path` leads to the value, from the outside. */
export const patchSchema = z.strictObject({
  op: z.enum(['replace', 'add', 'remove']),
  path: z.array(z.union([z.string(), z.int()])),
  value: z.unknown().optional(),
});

/** A change of one value. */
export type Patch = z.infer<typeof patchSchema>;
