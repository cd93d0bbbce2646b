import { DatabaseSync } from 'node:sqlite';
import { expect, test, vi } from 'vitest';
import { pageRequest } from '../runtimes/hosts/plays.ts';
import { ThreadObject } from '../runtimes/hosts/thread-object.ts';

vi.mock('cloudflare:workers', () => ({
  DurableObject: class {
    ctx: unknown;
    constructor(ctx: unknown) {
      this.ctx = ctx;
    }
  },
}));

vi.mock('../runtimes/hosts/app.ts', async () => {
  const { world } = await import('../runtimes/hosts/plays.ts');
  const toolApproval = { bookFlight: { type: 'user-approval', expiresAfterMs: 60_000 } };
  return { ...world(), toolApproval, authorize: () => ({ principal: 'ann' }) };
});

/** The storage of a Durable Object, as far as the documented one uses it. */
function objectStorage() {
  const database = new DatabaseSync(':memory:');
  let alarm: number | null = null;
  return {
    sql: {
      exec: (text: string, ...values: (string | number | null)[]) => ({
        raw: () =>
          database
            .prepare(text)
            .all(...values)
            .map((row): unknown[] => Object.values(row)),
      }),
    },
    transactionSync: <RESULT>(work: () => RESULT): RESULT => work(),
    getAlarm: async () => alarm,
    setAlarm: async (at: number) => void (alarm = at),
    deleteAlarm: async () => void (alarm = null),
    deleteAll: async () => {},
  };
}

test('an alarm that comes before the time in the log is set again', async () => {
  const storage = objectStorage();
  const object = new ThreadObject({ storage }, {});
  await (await object.fetch(pageRequest())).text();
  const deadline = (await object.agent.thread('page')).nextDeadline;
  expect(await storage.getAlarm()).toBe(Number(deadline) + 1);
  /* The platform takes the alarm before it calls; its clock may be ahead of the object's. */
  await storage.deleteAlarm();
  await object.alarm();
  expect(await storage.getAlarm()).toBe(deadline);
});
