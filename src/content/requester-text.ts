import { inertLine, quotedLine } from './inert-text.ts';
import type { RequestPath } from './tool-call.ts';

/* The fields in which apps name a person, the most readable first. */
const names = ['name', 'email', 'id', 'subject'] as const;

/**
 * The name of the person the agent is working for: a text principal as it is, an object by its name, email, id or subject, and any other as
 * JSON. `undefined` if there is none. Users may have chosen the text, so pass it through `inertLine` before showing it.
 */
function requesterText(requestedBy: unknown): string | undefined {
  if (requestedBy === undefined || requestedBy === null) return undefined;
  return textOf(requestedBy) ?? nameOf(requestedBy) ?? JSON.stringify(requestedBy);
}

function nameOf(requestedBy: unknown): string | undefined {
  if (typeof requestedBy !== 'object' || requestedBy === null) return undefined;
  const fields = new Map<string, unknown>(Object.entries(requestedBy));
  return names.map((name) => textOf(fields.get(name))).find((text) => text !== undefined);
}

/* A text of white space is no name. */
function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

/** Who asked, as one line that is safe to show; `undefined` if there is none. */
export function requesterLine(requestedBy: unknown): string | undefined {
  const requester = requesterText(requestedBy);
  return requester === undefined ? undefined : inertLine(requester);
}

/**
 * The path to a sub-agent, outermost first, as one line that is safe to show. A name that contains other characters than letters, digits,
 * spaces, `_`, `.` and `-` is quoted, so that it can't imitate a longer path.
 */
function pathLine(path: RequestPath): string {
  return path
    .map(({ agent }) => (/^[\p{L}\p{N}_ .-]+$/u.test(agent) ? agent : quotedLine(agent)))
    .join(' > ');
}

/** Lines that are safe to show: the path to the sub-agent that asks, and the person for whom it runs. */
export function askerLines({ path, requestedBy }: Asker): string[] {
  const requester = requesterLine(requestedBy);
  return [
    ...(path === undefined ? [] : [`Asked by: ${pathLine(path)}`]),
    ...(requester === undefined ? [] : [`Asked for by: ${requester}`]),
  ];
}

/** The parts of a request that say who asks. */
interface Asker {
  path?: RequestPath | undefined;
  requestedBy?: unknown;
}
