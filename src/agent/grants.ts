import { isKeptByStore } from '../content/approval-terms.ts';
import { type Grant, grantSchema } from '../content/grant.ts';
import { HoldpointError, type HoldpointErrorCode } from '../errors.ts';
import type { Proposal } from '../thread/proposal.ts';
import type { ThreadLog } from '../thread/thread-log.ts';
import type { StoredGrant } from '../thread/thread-store.ts';
import type { AnswerOptions } from './input/parse-input.ts';
import type { AgentContext } from './run/agent-context.ts';
import type { ThreadHandles } from './thread-handles.ts';

/** How many grants of the store are read at once. */
const pageSize = 100;

/** The standing approvals in effect: those of the agent in the store, and those of a thread. */
export async function listActiveGrants(
  { grants, name, now }: AgentContext,
  log: ThreadLog | undefined,
): Promise<Grant[]> {
  const found = log === undefined ? [] : log.state.head.grants.map(({ grant }) => grant);
  let after: string | undefined;
  for (;;) {
    const page =
      (await grants?.list({
        agent: name ?? null,
        limit: pageSize,
        ...(after === undefined ? {} : { after }),
      })) ?? [];
    found.push(...page.map(parseGrant));
    after = page.at(-1)?.grantId;
    if (page.length < pageSize || after === undefined) break;
  }
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

/** A standing approval that is to be revoked, and by whom. */
interface Revocation {
  grant: Grant;
  by: AnswerOptions;
}

/** Ends a standing approval. Throws `not-found` for one that has ended, or is another agent's. */
export async function revokeGrant(
  context: AgentContext,
  threads: ThreadHandles,
  { grant, by }: Revocation,
): Promise<void> {
  if (isKeptByStore(grant.scope)) return revokeStored(context, threads, { grant, by });
  const log = threads.logOf(await threads.open(grant.threadId));
  await threads.update(log);
  return revokeInThread(context, log, { grantId: grant.grantId, by });
}

/**
 * Ends a standing approval of the store, and records that in the thread in which it was made. Without a record if that thread was deleted or
 * can't be read: a standing approval can be revoked in any case. Throws `not-found` for another agent's.
 */
async function revokeStored(
  { grants, name, now }: AgentContext,
  threads: ThreadHandles,
  { grant, by }: Revocation,
): Promise<void> {
  const { grantId, toolName } = grant;
  const person = grant.person ?? null;
  /* Those that have expired, too. */
  const own = (await grants?.find({ agent: name ?? null, toolName, person, at: 0 })) ?? [];
  const stored = own.find((each) => each.grantId === grantId);
  if (grants === undefined || stored === undefined) throw makeUnknownGrantError(grantId);
  const { threadId, scope } = parseGrant(stored);
  if (scope === 'thread') throw makeUnknownGrantError(grantId);
  try {
    const log = threads.logOf(await threads.open(threadId));
    const revoke = (proposal: Proposal): void => {
      const made = proposal.state.events.findLastIndex(
        (event) => event.type === 'grant-created' && event.grant.grantId === grantId,
      );
      if (made === -1) return;
      proposal.add({ type: 'grant-revoked', at: now(), grantId, scope, ...by });
    };
    const events = await log.commit(revoke, { isFact: true });
    if (events.length > 0) return;
  } catch (error) {
    if (!HoldpointError.isInstance(error)) throw error;
    if (error.code === 'grant-ended') throw makeUnknownGrantError(grantId);
    if (!unreadable.has(error.code)) throw error;
  }
  if (!(await grants.revoke(grantId))) throw makeUnknownGrantError(grantId);
}

const unreadable: ReadonlySet<HoldpointErrorCode> = new Set([
  'thread-deleted',
  'log-tampered',
  'unsupported-version',
]);

/** Ends a standing approval of a thread. */
async function revokeInThread(
  { now }: AgentContext,
  log: ThreadLog,
  { grantId, by }: { grantId: string; by: AnswerOptions },
): Promise<void> {
  await log.commit((proposal) => {
    const { grants } = proposal.head;
    if (grants.every(({ grant }) => grant.grantId !== grantId))
      throw makeUnknownGrantError(grantId);
    proposal.add({ type: 'grant-revoked', at: now(), grantId, ...by });
  });
}

function makeUnknownGrantError(grantId: string): HoldpointError {
  return new HoldpointError(
    'not-found',
    `There is no standing approval ${grantId}: it was revoked or used up, or belongs to another thread or agent.`,
  );
}
