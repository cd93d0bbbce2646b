/** What people permitted for a session, kept by the tool server: the agent keeps no such decisions. */
export interface GrantStore {
  /** Whether this was permitted in this conversation. Only `true` permits. */
  get(groupId: string, key: string): boolean | PromiseLike<boolean>;
  /** It is permitted from now on in this conversation. */
  set(groupId: string, key: string): unknown;
  /** The conversation is closed: nothing is permitted any more. */
  clear?(groupId: string): unknown;
}

/** What was permitted in the conversation of a call. */
export interface SessionGrants {
  get(key: string): Promise<boolean>;
  set(key: string): Promise<void>;
}

/** The grants of one conversation: a tool can't name another by mistake. */
export function sessionGrants(store: GrantStore, groupId: string): SessionGrants {
  return {
    async get(key) {
      const granted: unknown = await store.get(groupId, key);
      return granted === true;
    },
    set: async (key) => {
      await store.set(groupId, key);
    },
  };
}

/** Grants in memory; of more than `maximum` the oldest is forgotten, and asked for again. */
export function memoryGrants(maximum = 10_000): GrantStore {
  const grants = new Map<string, { groupId: string; key: string }>();
  return {
    get: (groupId, key) => grants.has(nameOf(groupId, key)),
    set(groupId, key) {
      grants.set(nameOf(groupId, key), { groupId, key });
      const [oldest] = grants.keys();
      if (grants.size > maximum && oldest !== undefined) grants.delete(oldest);
    },
    clear(groupId) {
      for (const [name, grant] of grants) if (grant.groupId === groupId) grants.delete(name);
    },
  };
}

function nameOf(groupId: string, key: string): string {
  return JSON.stringify([groupId, key]);
}
