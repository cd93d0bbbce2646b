import { DurableObject } from 'cloudflare:workers';
import { d1Driver, durableObjectDriver, sqliteStoreOn } from 'holdpoint/stores/sqlite-on';
import { playAll } from './plays.ts';
import { playStore } from './stores.ts';

interface Environment {
  DB: Parameters<typeof d1Driver>[0] & { exec(text: string): Promise<unknown> };
  OBJECTS: { getByName(name: string): { fetch(url: string): Promise<Response> } };
}

/** A Durable Object with threads in its own SQLite. */
export class Threads extends DurableObject {
  async fetch(): Promise<Response> {
    const { storage } = this.ctx;
    const results = await playStore(async () => {
      await storage.deleteAll();
      return (hooks) => sqliteStoreOn(durableObjectDriver(storage), { ...hooks, snapshots: true });
    });
    return Response.json(results);
  }
}

/* With `nodejs_compat`, so that the conformance cases have `node:assert`. */
export default {
  async fetch(_request: Request, { DB, OBJECTS }: Environment): Promise<Response> {
    const inObject = await OBJECTS.getByName('plays').fetch('https://object.test');
    const ofRequests = ['requests', 'request_approvers', 'request_changes'];
    const tables = ['entries', 'threads', 'grants', ...ofRequests];
    return Response.json({
      plays: await playAll(),
      D1: await playStore(async () => {
        for (const table of tables) await DB.exec(`drop table if exists holdpoint_${table}`);
        return (hooks) => sqliteStoreOn(d1Driver(DB), hooks);
      }),
      'a Durable Object': await inObject.json(),
    });
  },
};
