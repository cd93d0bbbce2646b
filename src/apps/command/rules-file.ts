import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { renderSchemaError } from '../../json/field-fault.ts';

/** Runs a file with rules of the app, and returns its default export. It is JavaScript, or TypeScript that Node can strip. */
export async function readRulesFile<RULES>(
  path: string,
  schema: z.ZodType<RULES>,
  wanted: string,
): Promise<RULES> {
  const loaded: unknown = await import(pathToFileURL(resolve(path)).href);
  const parsed = schema.safeParse(Reflect.get(Object(loaded), 'default'));
  if (parsed.success) return parsed.data;
  throw new Error(
    `${path} must export ${wanted} as its default: ${renderSchemaError(parsed.error)}`,
  );
}
