import type { FaultPlan } from './mortal-process.ts';
import type { StoreView } from './mortal-world.ts';

/** What a process sees of a store when its connection dropped; the process itself lives on. */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost';
}

/** A store whose connection drops at the chosen points: before its work, or after it, so that the reply is lost. */
export function dropping(plan: FaultPlan): StoreView {
  const reach = async <RESULT>(work: () => Promise<RESULT>): Promise<RESULT> => {
    if (plan.pass()) throw new ConnectionLost('It dropped before the work.');
    const result = await work();
    if (plan.pass()) throw new ConnectionLost('It dropped after the work.');
    return result;
  };
  return (store) => ({
    ...store,
    read: async (...input) => reach(async () => store.read(...input)),
    append: async (...input) => reach(async () => store.append(...input)),
  });
}
