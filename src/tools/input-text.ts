import { z } from 'zod';

/** A text that the model gives, with what it is told of it. It must not be blank; JSON Schema can only say that it is not empty. */
export function textOf(description: string): z.ZodType<string> {
  return z
    .string()
    .refine((value) => value.trim() !== '', 'must not be blank')
    .meta({ description, minLength: 1 });
}
