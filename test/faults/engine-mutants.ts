import type { SourceMutant } from './source-mutants.ts';

/** What holds where queues and engines run threads. */
export const engineMutants: readonly SourceMutant[] = [
  {
    promise: 'a wake is durable with its append, or neither is',
    within: 'sendAfterHooks',
    from: 'const result = await connection.query(query);',
    to: "await connection.query({ text: 'commit' }); const result = await connection.query(query);",
    suite: ['stores/postgres-wakes', 'writes nothing for an append'],
    sentence: /AssertionError/,
  },
  {
    promise: 'an append whose wake has failed is not reported as made',
    within: 'sendAfterHooks',
    from: 'if (connection === undefined) return pool.query(query);',
    to: "if (connection === undefined) return pool.query(query); await connection.query({ text: 'commit' }); await connection.query({ text: 'begin' });",
    suite: ['stores/postgres-wakes', 'ignores that its query failed'],
    sentence: /AssertionError/,
  },
  {
    promise: 'a run that failed is retried by the log, and not by the queue',
    within: 'runRecorded',
    from: 'if (!isRecorded) throw error',
    to: 'throw error',
    suite: ['engines/graphile-worker', 'is no failed job'],
    sentence: /AssertionError/,
  },
  {
    promise: 'a workflow is woken when nothing is left to do',
    within: 'wakeWorkflow',
    from: 'return async ({ threadId }, transaction) => {',
    to: "return async ({ threadId, ...rest }, transaction) => { if (!('nextDeadline' in rest)) return;",
    suite: ['engines/dbos', 'somebody else has run its thread'],
    sentence: /timed out/,
  },
  {
    promise: 'the run of a process that is gone is taken over with its workflow',
    within: 'findStartedWorkflows',
    from: 'return [...runs, ...workflows].map(',
    to: 'return workflows.map(',
    suite: ['engines/dbos.deep', 'an executor that never returns'],
    sentence: /timed out|Timed out/,
  },
];
