import { createHash } from 'node:crypto';
import { tool } from 'ai';
import { createAgent, type ThreadStore } from 'holdpoint';
import { choice, createCustomAgent } from 'holdpoint/custom-agent';
import { sqliteStore } from 'holdpoint/stores/sqlite';
import { z } from 'zod';
import { leaseMs, lostCalls } from '../support/lost-call.ts';
import { scriptedModel } from '../support/scripted-model.ts';
import type { ScriptedCall } from '../support/script.ts';

/** The tools and rules of the agent `office`. */
const paying = {
  tools: {
    pay: tool({
      description: 'Pays somebody.',
      inputSchema: z.object({ to: z.string(), euros: z.number() }),
      execute: async ({ to, euros }) => `Paid ${euros} EUR to ${to}.`,
    }),
    wire: tool({
      description: 'Pays somebody abroad.',
      inputSchema: z.object({ to: z.string(), note: z.string() }),
      execute: async ({ to }) => `Wired to ${to}.`,
    }),
  },
  toolApproval: {
    pay: {
      type: 'user-approval',
      text: ({ to, euros }: { to: string; euros: number }) => `Pay ${euros} EUR to ${to}?`,
      risk: 'high',
      editable: ['euros'],
    },
    wire: { type: 'user-approval', approvers: ['finance'], notRequester: true },
  },
} as const;

/** What the model of `office` calls in each thread. */
const calls = {
  'invoice-7': { id: 'call-1', name: 'pay', input: { to: 'ACME', euros: 500 } },
  'invoice-8': {
    id: 'call-2',
    name: 'wire',
    input: { to: 'info@раypal.com', note: 'a\u202Eb\nc' },
  },
};

/** Settings by which agents always do the same. */
export interface OfficeSettings {
  now?: () => number;
  generateId?: () => string;
}

/** Fills a store with what needs a person: two approvals of `office`, a question of `asker`, and a lost call of an agent without a name. */
export async function fillOffice(store: ThreadStore, settings: OfficeSettings = {}) {
  for (const [threadId, call] of Object.entries(calls)) {
    const office = makeOffice(store, { calls: [call], ...settings });
    await office.run('Pay.', await office.thread(threadId), { principal: 'cleo' });
  }
  const asker = createCustomAgent({
    name: 'asker',
    store,
    ...settings,
    step: () => ({ requests: { colour: choice('Which colour?', ['red', 'blue']) } }),
  });
  await asker.run('Paint.', await asker.thread('wall'));
  const start = (settings.now ?? Date.now)();
  let now = start;
  const { agent } = await lostCalls(['trip'], { ...settings, now: () => now });
  now += leaseMs;
  const lost = JSON.stringify(await agent().agent.thread('trip'));
  await createAgent({ model: scriptedModel([]).model, store }).restore(lost);
}

/** The agent `office` in a process that has its tools. */
export function makeOffice(
  store: ThreadStore,
  { calls: planned = [], ...options }: OfficeSettings & { calls?: readonly ScriptedCall[] } = {},
) {
  const script = planned.length === 0 ? [] : [{ calls: [...planned] }];
  const { model } = scriptedModel([...script, { text: 'Done.' }]);
  return createAgent({
    name: 'office',
    model,
    store,
    ...paying,
    mayAnswer: ({ principal }) => principal === 'ben',
    ...options,
  });
}

/** Ids that are the same in each run. */
export function makeSameIds(): () => string {
  let count = 0;
  return () => {
    count += 1;
    return createHash('sha256').update(`id ${count}`).digest('base64url').slice(0, 22);
  };
}

/** Opens the store of a file for as long as it is used. */
export async function inStore<RESULT>(
  file: string,
  use: (store: ThreadStore) => Promise<RESULT>,
): Promise<RESULT> {
  using store = sqliteStore(file);
  return await use(store);
}
