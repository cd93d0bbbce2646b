import { HoldpointError } from '../../errors.ts';
import type { GrantChange, StoredGrant, ThreadStoreGrants } from '../../thread/thread-store.ts';

/** The standing approvals of a store in memory. */
export class MemoryGrants implements ThreadStoreGrants {
  readonly #grants = new Map<string, StoredGrant>();

  /** Throws `grant-ended` if one of the changes can't be made. Changes nothing. */
  check(changes: readonly GrantChange[]): void {
    const used = new Map<string, number>();
    for (const change of changes) {
      if (change.type === 'create') continue;
      const { grantId } = change;
      const before = used.get(grantId) ?? 0;
      const grant = this.#grants.get(grantId);
      const isUsable = change.type === 'revoke' || (grant && isActive(grant, change.at, before));
      if (grant === undefined || isUsable !== true) {
        throw new HoldpointError(
          'grant-ended',
          `Standing approval ${grantId} was revoked, has expired or has no use left.`,
        );
      }
      used.set(grantId, before + 1);
    }
  }

  /** Makes changes that were checked. */
  apply(changes: readonly GrantChange[]): void {
    for (const change of changes) {
      if (change.type === 'create') this.#grants.set(change.grant.grantId, { ...change.grant });
      else if (change.type === 'use') this.#use(change.grantId);
      else this.#grants.delete(change.grantId);
    }
  }

  #use(grantId: string): void {
    const grant = this.#grants.get(grantId);
    if (grant?.usesLeft === undefined) return;
    grant.usesLeft -= 1;
    if (grant.usesLeft === 0) this.#grants.delete(grantId);
  }

  async find({
    agent,
    toolName,
    person,
    at,
  }: Parameters<ThreadStoreGrants['find']>[0]): Promise<StoredGrant[]> {
    return [...this.#grants.values()]
      .filter(
        (grant) =>
          grant.agent === agent &&
          grant.toolName === toolName &&
          (grant.person === null || grant.person === person) &&
          isActive(grant, at),
      )
      .toSorted(byAge)
      .map((grant) => ({ ...grant }));
  }

  async list({
    agent,
    after = '',
    limit = 100,
  }: Parameters<ThreadStoreGrants['list']>[0]): Promise<StoredGrant[]> {
    return [...this.#grants.values()]
      .filter((grant) => (agent === undefined || grant.agent === agent) && grant.grantId > after)
      .toSorted((one, other) => (one.grantId < other.grantId ? -1 : 1))
      .slice(0, limit)
      .map((grant) => ({ ...grant }));
  }

  async revoke(grantId: string): Promise<boolean> {
    return this.#grants.delete(grantId);
  }
}

function isActive(
  { expiresAt = Infinity, usesLeft = Infinity }: StoredGrant,
  at: number,
  used = 0,
): boolean {
  return at < expiresAt && used < usesLeft;
}

function byAge(one: StoredGrant, other: StoredGrant): number {
  return one.createdAt - other.createdAt || (one.grantId < other.grantId ? -1 : 1);
}
