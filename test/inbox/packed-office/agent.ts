/* The agent of the fresh project: its inbox, its worker and whoever asks are processes of their own that import this file. */
import { tool } from 'ai';
import { createAgent, type ThreadStore } from 'holdpoint';
import { sqliteStore } from 'holdpoint/stores/sqlite';
import { scriptedModel } from 'holdpoint/testing';
import { appendFileSync, existsSync, rmSync } from 'node:fs';
import { z } from 'zod';
import { teamsOf } from './teams.ts';
import type { ScriptedCall } from '../../support/script.ts';

const payment = z.object({
  to: z.string(),
  euros: z.number().refine((euros) => euros <= 500, 'At most 500 EUR.'),
});

const pay = tool({
  description: 'Pays somebody.',
  inputSchema: payment,
  execute: async (input) => {
    appendFileSync('paid.jsonl', `${JSON.stringify(input)}\n`);
    return 'Paid.';
  },
});

/* Requests with other metadata are not alike: each test has a row of its own, whatever another one has left. */
const ask = ({ to, euros }: z.infer<typeof payment>, quorum: number) => ({
  type: 'user-approval' as const,
  text: `Pay ${euros} EUR to ${to}?`,
  approvers: ['finance'],
  notRequester: true,
  editable: ['euros'],
  metadata: { to },
  quorum,
});

const file = sqliteStore('threads.sqlite');

/* Where there is a file `die`, the process ends between the write and the reply of the next answer. */
export const store: ThreadStore = {
  ...file,
  append: async (...input) => {
    await file.append(...input);
    if (!existsSync('die') || !JSON.stringify(input).includes('request-answered')) return;
    rmSync('die');
    process.kill(process.pid, 'SIGKILL');
  },
};

/** What the model calls next. */
export const script: ScriptedCall[] = [];

export const agent = createAgent({
  name: 'office',
  model: scriptedModel(() => {
    const call = script.shift();
    return call === undefined ? { text: 'Done.' } : { calls: [call] };
  }).model,
  store,
  tools: { pay, payTogether: pay },
  toolApproval: {
    pay: (input: z.infer<typeof payment>) => ask(input, 1),
    payTogether: (input: z.infer<typeof payment>) => ask(input, 2),
  },
  mayAnswer: ({ principal, request }) =>
    typeof principal === 'string' &&
    request.type === 'approval-request' &&
    (request.approvers ?? []).some((name) => teamsOf(principal).includes(name)),
});
