import { setImmediate } from 'node:timers/promises';
import type { Redis } from './redis-port.ts';

type Value = string | Set<string> | string[];

/** A Redis server in memory: what the port of the guide needs of one. Each command takes a turn, so that others come between two of them. */
export class FakeRedis {
  readonly #values = new Map<string, Value>();
  readonly #changes = new Map<string, number>();

  /** The number of open connections. */
  connections = 0;

  /** A connection, with watched keys of its own. */
  connect(): Redis {
    this.connections += 1;
    let watched = new Map<string, number>();
    const text = (key: string): string | null => {
      const value = this.#values.get(key);
      return typeof value === 'string' ? value : null;
    };
    return {
      get: async (key) => setImmediate().then(() => text(key)),
      mget: async (keys) => setImmediate().then(() => keys.map(text)),
      smembers: async (key) => setImmediate().then(() => [...this.#set(key)]),
      lrange: async (key) => setImmediate().then(() => [...this.#list(key)]),
      watch: async (keys) => {
        await setImmediate();
        watched = new Map(keys.map((key) => [key, this.#countChanges(key)]));
      },
      close: async () => {
        watched.clear();
        this.connections -= 1;
      },
      multi: async (commands) => {
        await setImmediate();
        const isSame = [...watched].every(([key, count]) => this.#countChanges(key) === count);
        watched.clear();
        if (!isSame) return null;
        for (const [name, key = '', value = ''] of commands) this.#run(name, key, value);
        return [];
      },
    };
  }

  #run(name: string, key: string, value: string): void {
    this.#changes.set(key, this.#countChanges(key) + 1);
    if (name === 'set') this.#values.set(key, value);
    else if (name === 'del') this.#values.delete(key);
    else if (name === 'sadd') this.#values.set(key, this.#set(key).add(value));
    else if (name === 'srem') this.#set(key).delete(value);
    else this.#values.set(key, [...this.#list(key), value]);
  }

  #countChanges(key: string): number {
    return this.#changes.get(key) ?? 0;
  }

  #set(key: string): Set<string> {
    const value = this.#values.get(key);
    return value instanceof Set ? value : new Set();
  }

  #list(key: string): string[] {
    const value = this.#values.get(key);
    return Array.isArray(value) ? value : [];
  }
}
