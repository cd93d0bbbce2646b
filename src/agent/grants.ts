import { readPages } from '../content/read-pages.ts';
import { isKeptByStore } from '../content/approval-terms.ts';
import { type Grant, grantSchema } from '../content/grant.ts';
import { HoldpointError, type HoldpointErrorCode } from '../errors.ts';
import type { ThreadLog } from '../thread/thread-log.ts';
import type { StoredGrant } from '../thread/thread-store.ts';
import { performAct } from './acts/acts.ts';
import { makeUnknownGrantError } from './acts/revoke-grant.ts';
import type { AnswerOptions } from './input/parse-input.ts';
import type { AgentContext } from './run/agent-context.ts';
import type { ThreadHandles } from './thread-handles.ts';

/** The number of grants that are read from the store at once. */
const pageSize = 100;

/** The standing approvals in effect: those of the agent in the store, and those of a thread. */
export async function listActiveGrants(
  { grants, name, now }: AgentContext,
  log: ThreadLog | undefined,
): Promise<Grant[]> {
  const found = log === undefined ? [] : log.state.head.grants.map(({ grant }) => grant);
  const readPage = async (after?: StoredGrant) =>
    (await grants?.list({ agent: name ?? null, limit: pageSize, after: after?.grantId })) ?? [];
  for await (const page of readPages(readPage, pageSize)) found.push(...page.map(parseGrant));
  return found.filter(({ expiresAt = Infinity }) => expiresAt > now());
}

function parseGrant({ grantId, text }: StoredGrant): Grant {
  const parsed = grantSchema.safeParse(JSON.parse(text));
  if (parsed.success) return parsed.data;
  throw new HoldpointError(
    'unsupported-version',
    `Standing approval ${grantId} in the store can't be read: a newer holdpoint may have written it.`,
  );
}

/** A standing approval to revoke, and the person who revokes it. */
interface Revocation {
  grant: Grant;
  by: AnswerOptions;
}

/**
 * Ends a standing approval, and records that in the thread in which it was made. One of the store is revoked without a record if that
 * thread was deleted or can't be read. Throws `not-found` for one that has ended, or is another agent's.
 */
export async function revokeGrant(
  context: AgentContext,
  threads: ThreadHandles,
  { grant: given, by }: Revocation,
): Promise<void> {
  const isStored = isKeptByStore(given.scope);
  const grant = isStored ? await readStored(context, given) : given;
  const { grantId } = grant;
  try {
    const log = threads.logOf(await threads.open(grant.threadId));
    if (!isStored) await threads.update(log);
    const act = { type: 'revoke', grant } as const;
    const events = await performAct({ context, log, act, by });
    if (events.length > 0) return;
  } catch (error) {
    if (!isStored || !HoldpointError.isInstance(error)) throw error;
    if (error.code === 'grant-ended') throw makeUnknownGrantError(grantId);
    if (!unreadable.has(error.code)) throw error;
  }
  if ((await context.grants?.revoke(grantId)) !== true) throw makeUnknownGrantError(grantId);
}

/** A standing approval as the store has it for this agent, also one that has expired. */
async function readStored({ grants, name }: AgentContext, given: Grant): Promise<Grant> {
  const { grantId, toolName, person } = given;
  const query = { agent: name ?? null, toolName, person: person ?? null, at: 0 };
  const own = (await grants?.find(query)) ?? [];
  const stored = own.find((each) => each.grantId === grantId);
  if (stored === undefined) throw makeUnknownGrantError(grantId);
  const grant = parseGrant(stored);
  if (!isKeptByStore(grant.scope)) throw makeUnknownGrantError(grantId);
  return grant;
}

const unreadable: ReadonlySet<HoldpointErrorCode> = new Set([
  'thread-deleted',
  'log-tampered',
  'unsupported-version',
]);
