/*
 * A process with the agents of a scenario. It leads the threads whose ids it reads, one a line, to their end and exits when there are no
 * more, or it is a worker: of the outermost agent, or of all. It kills itself at one of the boundaries that it passes, and says which. On
 * SIGUSR2 it reports how many it has passed.
 * Arguments: a connection string, the scenario, `lead`, `work` or `work-for-all`, the number of the boundary (0: none).
 */
import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { runWorker } from 'holdpoint/worker';
import { Pool } from 'pg';
import { openOffice } from '../faults/paying-office.ts';
import { advance } from '../faults/paying-staff.ts';
import { scenarioNamed } from '../faults/sub-agent-scenarios.ts';

const [connectionString = '', name = '', role = 'lead', killAt = '0'] = process.argv.slice(2);
const scenario = scenarioNamed(name);
const pool = new Pool({ connectionString });
pool.on('error', () => {});

let passed = 0;
const office = openOffice(pool, scenario, (boundary) => {
  passed += 1;
  if (passed !== Number(killAt)) return;
  writeSync(1, `${boundary}\n`);
  process.kill(process.pid, 'SIGKILL');
  for (;;) {
    /* Nothing is done any more. */
  }
});
const { outermost, agents, store } = office;
process.on('SIGUSR2', () => {
  writeSync(2, `${role} ${process.pid} has passed ${passed} boundaries (dies at ${killAt})\n`);
});

async function lead(threadId: string): Promise<void> {
  for (let status = ''; status !== 'completed';) {
    status = await advance({ ...office, scenario }, threadId, office);
    if (status !== 'completed') await setTimeout(300);
  }
}

if (role !== 'lead') {
  const { signal } = new AbortController();
  const working = role === 'work' ? [outermost] : [...agents.values()];
  await Promise.all(
    working.map(async (agent) => runWorker({ agent, store, signal, pollMs: 100, claimMs: 2_000 })),
  );
}
const leading: Promise<void>[] = [];
for await (const threadId of createInterface({ input: process.stdin })) {
  leading.push(lead(threadId));
}
await Promise.all(leading);
process.exit();
