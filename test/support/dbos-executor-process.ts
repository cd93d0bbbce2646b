/*
 * An executor of DBOS that runs agents, until it is killed. Arguments: its id, a connection string, the file of the effects.
 */
import { appendFileSync } from 'node:fs';
import { DBOS } from '@dbos-inc/dbos-sdk';
import { tool } from 'ai';
import { createAgent } from 'holdpoint';
import { agentWorkflow, wakeWorkflow } from 'holdpoint/dbos';
import { postgresStore } from 'holdpoint/stores/postgres';
import { Pool } from 'pg';
import { z } from 'zod';
import { statelessModel } from '../faults/stateless-model.ts';

const [executorID = '', connectionString = '', ledger = ''] = process.argv.slice(2);
const pool = new Pool({ connectionString });
pool.on('error', () => {});

const store = postgresStore(pool, { onWake: wakeWorkflow() });
const agent = createAgent({
  model: statelessModel([[['book', 'Paris']]], async (_prompt, answer) => answer()),
  tools: {
    book: tool({
      inputSchema: z.object({ city: z.string() }),
      async execute(_input, options) {
        appendFileSync(ledger, `${Reflect.get(options, 'idempotencyKey')}\n`);
        if (executorID === 'hanging') await new Promise(() => {});
        return 'booked';
      },
    }),
  },
  toolApproval: { book: 'user-approval' },
  store,
  leaseMs: 1_000,
});
const { sweep } = agentWorkflow({ agent, store, name: 'booking', queueName: 'runs' });
DBOS.setConfig({
  name: 'travel',
  systemDatabaseUrl: connectionString,
  logLevel: 'error',
  applicationVersion: '1',
  executorID,
});
await DBOS.launch();
const quick = { minPollingIntervalMs: 50 };
await DBOS.registerQueue('turns', quick);
await DBOS.registerQueue('runs', { workerConcurrency: 5, ...quick });
const everySecond = { scheduleName: 'sweep', workflowFn: sweep, schedule: '* * * * * *' };
await DBOS.applySchedules([everySecond]);
console.log('ready');
