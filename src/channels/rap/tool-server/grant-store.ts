/** Stores what people permitted for a session. The tool server keeps these grants; the agent does not. */
export interface GrantStore {
  /** Whether `key` was permitted in this conversation. Only `true` counts. */
  get(groupId: string, key: string): boolean | PromiseLike<boolean>;
  /** Permits `key` in this conversation. */
  set(groupId: string, key: string): unknown;
  /** Deletes the grants of a closed conversation. */
  clear?(groupId: string): unknown;
}

/** The grants of the conversation of a call. */
export interface SessionGrants {
  get(key: string): Promise<boolean>;
  set(key: string): Promise<void>;
}

/** The grants of one conversation, so that a tool can't use those of another by mistake. */
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

/** Keeps grants in memory. Above `maximum`, the oldest is deleted and must be granted again. */
export function memoryGrants(maximum = 10_000): GrantStore {
  const grants = new Map<string, { groupId: string; key: string }>();
  return {
    get: (groupId, key) => grants.has(keyOf(groupId, key)),
    set(groupId, key) {
      grants.set(keyOf(groupId, key), { groupId, key });
      const [oldest] = grants.keys();
      if (grants.size > maximum && oldest !== undefined) grants.delete(oldest);
    },
    clear(groupId) {
      for (const [name, grant] of grants) if (grant.groupId === groupId) grants.delete(name);
    },
  };
}

function keyOf(groupId: string, key: string): string {
  return JSON.stringify([groupId, key]);
}
