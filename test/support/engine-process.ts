/*
 * A process that leads the thread `t` to its end with an engine, and answers its request like a web server would. It kills itself at one of
 * the boundaries that it passes: before and after each read, append and effect, and in the transaction of each wake. Arguments: the engine,
 * a connection string, the file of the effects, the number of the boundary (0: none). Its last line says how the thread ended.
 */
import { appendFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { DBOS } from '@dbos-inc/dbos-sdk';
import { tool } from 'ai';
import { type Agent, createAgent, type ThreadStore } from 'holdpoint';
import { agentWorkflow, wakeWorkflow } from 'holdpoint/dbos';
import { addResumeJob, resumeTasks } from 'holdpoint/graphile-worker';
import { type OnWake, postgresStore } from 'holdpoint/stores/postgres';
import { Logger, run } from 'graphile-worker';
import { Pool } from 'pg';
import { z } from 'zod';
import { statelessModel } from '../faults/stateless-model.ts';

const [engine = '', connectionString = '', ledger = '', killAt = '0'] = process.argv.slice(2);
const pool = new Pool({ connectionString });
pool.on('error', () => {});

let passed = 0;
function boundary(): void {
  passed += 1;
  if (passed !== Number(killAt)) return;
  process.kill(process.pid, 'SIGKILL');
  for (;;) {
    /* Nothing is done any more. */
  }
}

const hook: OnWake = engine === 'dbos' ? wakeWorkflow() : addResumeJob();
const kept = postgresStore(pool, {
  async onWake(wake, transaction) {
    await hook(wake, transaction);
    boundary();
  },
});
const store: ThreadStore = {
  ...kept,
  async read(...input) {
    boundary();
    return kept.read(...input);
  },
  async append(...input) {
    boundary();
    await kept.append(...input);
    boundary();
  },
};

function makeAgent(): Agent {
  return createAgent({
    model: statelessModel([[['book', 'Paris']]], async (_prompt, answer) => answer()),
    tools: {
      book: tool({
        inputSchema: z.object({ city: z.string() }),
        async execute({ city }) {
          boundary();
          appendFileSync(ledger, `${city}\n`);
          boundary();
          return 'booked';
        },
      }),
    },
    toolApproval: { book: 'user-approval' },
    store,
    leaseMs: 300,
    retry: { initialDelayMs: 50 },
  });
}

const web = makeAgent();

/** Answers the request as soon as it is there, and resolves with how the thread ended. */
async function answerRequest(): Promise<string> {
  for (;;) {
    await setTimeout(10);
    const { status, openRequests = 0 } = (await kept.head('t')) ?? {};
    if (status === 'indeterminate') return status;
    if (status === 'waiting' && openRequests > 0) {
      const thread = await web.thread('t');
      const answers = thread.activeApprovalRequests.map((request) => request.approve());
      await web.respond(answers, thread);
    }
    if (status !== 'idle') continue;
    const thread = await web.thread('t');
    const isReplied = thread.messages.at(-1)?.role === 'assistant';
    if (thread.status === 'idle' && isReplied && thread.nextDeadline === undefined)
      return 'completed';
  }
}

async function lead(): Promise<string> {
  if (engine === 'dbos') {
    const workflow = agentWorkflow({ agent: makeAgent(), store, name: 'booking' });
    DBOS.setConfig({
      name: 'travel',
      systemDatabaseUrl: connectionString,
      logLevel: 'error',
      applicationVersion: '1',
    });
    await DBOS.launch();
    const handle = await workflow.start({ threadId: 't', message: 'Book' }, { workflowID: 'w' });
    const end = await answerRequest();
    if (end === 'completed') await handle.getResult();
    return end;
  }
  const agent = makeAgent();
  const { holdpoint } = resumeTasks({ agent, store });
  /* The sweep looks for what is due, and not for what has been due for ten seconds. */
  const { 'holdpoint-sweep': sweep } = resumeTasks({
    agent: {
      name: undefined,
      now: () => agent.now() + 10_000,
      thread: async (...given) => agent.thread(...given),
      run: async (...input) => agent.run(...input),
    },
    store,
  });
  const runner = await run({
    pgPool: pool,
    taskList: { holdpoint, 'holdpoint-sweep': sweep },
    pollInterval: 50,
    logger: new Logger(() => () => {}),
    noHandleSignals: true,
  });
  const ticking = setInterval(() => void runner.addJob('holdpoint-sweep', {}), 200);
  const thread = await web.thread('t');
  await web.run('Book', thread, { messageId: 'm' }).catch(() => {});
  const end = await answerRequest();
  clearInterval(ticking);
  return end;
}

const end = await Promise.race([lead(), setTimeout(30_000, 'asleep')]);
console.log(`ended: ${end}`);
process.exit();
