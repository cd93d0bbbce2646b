import { appendFileSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import { pathToFileURL } from 'node:url';
import { tool } from 'ai';
import type { Agent, Authorize } from 'holdpoint';
import { sqliteStore } from 'holdpoint/stores/sqlite';
import { scriptedModel } from 'holdpoint/testing';
import { z } from 'zod';

/*
 * Loaded before a server of the docs: the globals that its blocks take for granted, which an app has. `authorize` is that of the page, as the
 * docs have it. Ada has asked for a flight in `trip-42`, which waits for an approval.
 */

const { model } = scriptedModel([
  { calls: [{ id: 'c1', name: 'bookFlight', input: { city: 'Paris', day: 'Friday' } }] },
  { text: 'Booked.' },
]);
const bookFlight = tool({
  description: 'Books a flight.',
  inputSchema: z.object({ city: z.string(), day: z.string() }),
  execute: async ({ city, day }) => ({ booked: `${city} on ${day}` }),
});
const { SECRET: secret, SIGNING_SECRET: signingSecret } = process.env;
Object.assign(globalThis, {
  model,
  tools: { bookFlight },
  toolApproval: { bookFlight: 'user-approval' },
  ...(secret && { secret }),
  ...(signingSecret && { signingSecret, acmeSecret: signingSecret, globexSecret: 'g'.repeat(32) }),
  deploy: (service: string, place: string) => appendFileSync('deployed', `${service} ${place}\n`),
});

const page: { agent: Agent; authorize: Authorize } = await import(pathToFileURL('page.ts').href);
const { agent, authorize } = page;
Object.assign(globalThis, { agent, authorize, store: sqliteStore('threads.sqlite') });
const principal = 'ada@example.com';
await agent.run('Book a flight to Paris.', await agent.thread('trip-42'), {
  principal,
  messageId: 'm0',
});

/* The test kills this process, so what it compiled would not be kept for the next one. */
flushCompileCache();
