import { inertLine } from './inert-text.ts';

/* What apps call a person by, in the order in which a reader would want it. */
const names = ['name', 'email', 'id', 'subject'] as const;

/**
 * Who asked, for people: a text principal as it is, an object by its name, email, id or subject, any other as JSON. `undefined` where
 * nobody is named. A user may have chosen the text: show it inert.
 */
export function requesterText(requestedBy: unknown): string | undefined {
  if (requestedBy === undefined || requestedBy === null) return undefined;
  return textOf(requestedBy) ?? nameOf(requestedBy) ?? JSON.stringify(requestedBy);
}

function nameOf(requestedBy: unknown): string | undefined {
  if (typeof requestedBy !== 'object' || requestedBy === null) return undefined;
  const fields = new Map<string, unknown>(Object.entries(requestedBy));
  return names.map((name) => textOf(fields.get(name))).find((text) => text !== undefined);
}

/* White space names nobody. */
function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

/** Who asked, as one line that is safe to show; `undefined` where nobody is named. */
export function requesterLine(requestedBy: unknown): string | undefined {
  const requester = requesterText(requestedBy);
  return requester === undefined ? undefined : inertLine(requester);
}
