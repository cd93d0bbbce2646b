import { z } from 'zod';

/** Text that parses as JSON: what APIs want where a model's arguments stand. */
export const jsonText = z.string().refine(isJson, 'is not JSON text');

/**
 * What a request body breaks: a part that is about approval and not of the provider's `own` types, else the schema, else
 * `rules`. The first kind that finds anything has the word, as later rules read what earlier ones checked.
 */
export function checkRequest<BODY>(
  body: unknown,
  schema: z.ZodType<BODY>,
  rules: (body: BODY) => Iterable<string>,
  own: readonly string[] = [],
): string[] {
  const approvals = [...approvalParts(body, 'body', own)];
  if (approvals.length > 0) return approvals;
  const checked = schema.safeParse(body);
  if (checked.success) return [...rules(checked.data)];
  return checked.error.issues.map(faultOf);
}

/** A fault and where it is; of a value that fits no member of a union, what is wrong for each of them. */
function faultOf(issue: z.core.$ZodIssue): string {
  const place = issue.path.join('.');
  if (issue.code !== 'invalid_union' || issue.errors.length === 0) {
    return `${place}: ${issue.message}`;
  }
  return `${place}: ${issue.errors.map((faults) => faults.map(faultOf).join(', ')).join(' or ')}`;
}

function* approvalParts(value: unknown, path: string, own: readonly string[]): Generator<string> {
  if (typeof value !== 'object' || value === null) return;
  const type = 'type' in value ? value.type : undefined;
  if (typeof type === 'string' && /approval/i.test(type) && !own.includes(type)) {
    yield `${path}: a part of type ${type} was sent to the model`;
  }
  for (const [key, part] of Object.entries(value)) {
    /* What a model calls tools with, and the tools' schemas, may be about anything. */
    if (key === 'tools' || (type === 'tool_use' && key === 'input')) continue;
    yield* approvalParts(part, `${path}.${key}`, own);
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
