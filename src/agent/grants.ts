import { type Grant, grantSchema } from '../content/grant.ts';
import { HoldpointError } from '../errors.ts';
import type { ThreadLog } from '../thread/thread-log.ts';
import type { StoredGrant } from '../thread/thread-store.ts';
import type { AnswerOptions } from './input/run-input.ts';
import type { AgentContext } from './run/agent-context.ts';

/** How many grants of the store are read at once. */
const pageSize = 100;

/** The standing approvals in effect: those of the agent in the store, and those of a thread. */
export async function activeGrants(
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
    found.push(...page.map(grantOf));
    after = page.at(-1)?.grantId;
    if (page.length < pageSize || after === undefined) break;
  }
  return found.filter(({ expiresAt = Infinity }) => expiresAt > now());
}

function grantOf({ grantId, text }: StoredGrant): Grant {
  const parsed = grantSchema.safeParse(JSON.parse(text));
  if (parsed.success) return parsed.data;
  throw new HoldpointError(
    'unsupported-version',
    `Standing approval ${grantId} in the store can't be read: a newer holdpoint may have written it.`,
  );
}

/** Ends a standing approval of the store. */
export async function revokeStored({ grants }: AgentContext, { grantId }: Grant): Promise<void> {
  if ((await grants?.revoke(grantId)) !== true) throw unknownGrant(grantId);
}

/** Ends a standing approval of a thread. */
export async function revokeInThread(
  { now }: AgentContext,
  log: ThreadLog,
  { grantId, by }: { grantId: string; by: AnswerOptions },
): Promise<void> {
  await log.commit((proposal) => {
    const { grants } = proposal.head;
    if (grants.every(({ grant }) => grant.grantId !== grantId)) throw unknownGrant(grantId);
    proposal.add({ type: 'grant-revoked', at: now(), grantId, ...by });
  });
}

function unknownGrant(grantId: string): HoldpointError {
  return new HoldpointError(
    'unknown-grant',
    `There is no standing approval ${grantId}: it was revoked or used up, or belongs to another thread or agent.`,
  );
}
