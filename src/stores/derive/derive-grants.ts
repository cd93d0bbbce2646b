import type { GrantChange, StoredGrant, ThreadStoreGrants } from '../../thread/thread-store.ts';
import {
  changeGrant,
  grantOrder,
  grants,
  listGrantConditions,
  selectGrants,
} from '../rows/tables.ts';
import type { StorePort } from './store-port.ts';
import { parseRow } from './tables.ts';
import { selectAll, transact, type Transaction } from './transaction.ts';

/** The standing approvals of a store. */
export function deriveGrants(port: StorePort): ThreadStoreGrants {
  return {
    async find(query) {
      const where = listGrantConditions(query);
      const rows = await selectAll(port, { table: 'grants', where, order: grantOrder });
      return rows.map((row) => parseRow(grants, row));
    },

    async list(query) {
      const rows = await port.select({ table: 'grants', ...selectGrants(query) });
      return rows.map((row) => parseRow(grants, row));
    },

    async revoke(grantId) {
      return transact(port, async (transaction) => {
        const exists = (await transaction.find(grants, grantId)) !== undefined;
        if (exists) await transaction.delete(grants, grantId);
        return exists;
      });
    },
  };
}

/**
 * Makes the changes of an append. Each standing approval is written, also one without a limit of uses, so that the append fails if it is
 * revoked at the same moment.
 */
export async function changeGrants(
  transaction: Transaction,
  changes: readonly GrantChange[],
): Promise<void> {
  for (const change of changes) {
    const grantId = change.type === 'create' ? change.grant.grantId : change.grantId;
    const grant = changeGrant(await transaction.find(grants, grantId), change);
    if (grant === undefined) await transaction.delete(grants, grantId);
    else if (change.type === 'create') await transaction.put(grants, grant);
    else await transaction.change(grants, grantId, pickUses(grant));
  }
}

function pickUses({ usesLeft }: StoredGrant): Pick<StoredGrant, 'usesLeft'> {
  return usesLeft === undefined ? {} : { usesLeft };
}
