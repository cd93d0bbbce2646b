import { HoldpointError } from '../errors.ts';
import type { ThreadState } from '../thread/thread-state.ts';

/** Throws `wrong-agent` for a thread that an agent of another name has begun, or was given. */
export function refuseOtherAgent(
  { threadId, head: { created, agent } }: Readonly<ThreadState>,
  name: string | undefined,
): void {
  if (!created || agent === name) return;
  throw new HoldpointError(
    'wrong-agent',
    `Thread ${threadId} belongs to ${called(agent)}, and this is ${called(name)}. ` +
      `Use an agent created with ${nameOption(agent)}; or, where this one is to take it over, call agent.adopt(thread) first.`,
  );
}

function called(name: string | undefined): string {
  return name === undefined ? 'an agent without a name' : `agent '${name}'`;
}

function nameOption(name: string | undefined): string {
  return name === undefined ? 'no name' : `name: '${name}'`;
}

/** The name. Throws a `TypeError` for one that can't be kept. */
export function checkedName(name: unknown): string | undefined {
  const isName =
    typeof name === 'string' && name.length > 0 && name.length <= 100 && name.isWellFormed();
  if (name === undefined || (isName && !name.includes('\0'))) return name;
  throw new TypeError(`The name of an agent must be a text of 1 to 100 characters.`);
}
