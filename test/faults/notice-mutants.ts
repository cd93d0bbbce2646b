import type { SourceMutant } from './source-mutants.ts';

const notices = 'stores/postgres-notices';
const turns = 'agent/claim-turns';
const sender = 'stores/postgres/notice-sender.ts';
const runner = 'stores/postgres/statement-runner.ts';
const failed = /AssertionError/;
const late = /timed out|Timed out/;

/** Notices of due threads on Postgres, and whose turn it is to claim one. */
export const noticeMutants: readonly SourceMutant[] = [
  {
    promise: 'an answer resolves when its notice is sent',
    file: 'stores/postgres.ts',
    from: 'if (notice.nextDeadline === 0) await sending;',
    to: '',
    suite: [notices, 'an answer resolves when it is sent'],
    sentence: failed,
  },
  {
    promise: 'an append that makes nothing due waits for no notice',
    file: 'stores/postgres.ts',
    from: 'if (notice.nextDeadline === 0) await sending;',
    to: 'await sending;',
    suite: [notices, 'keeps no append waiting'],
    sentence: late,
  },
  {
    promise: 'notices that come together share a statement',
    file: sender,
    from: 'this.#next ??= this.#sending.then(',
    to: 'this.#next = this.#sending.then(',
    suite: [notices, 'shares a statement'],
    sentence: failed,
  },
  {
    promise: 'a notice that can not be sent fails no append',
    file: sender,
    from: 'await waitForTimer(milliseconds, ended.signal);',
    to: 'await work;',
    suite: [notices, 'fails no append'],
    sentence: /The connection is gone/,
  },
  {
    promise: 'an answer waits for a moment if its notice gets no reply',
    file: sender,
    from: 'const longestMs = 2_000;',
    to: 'const longestMs = 2_000_000;',
    suite: [notices, 'waits for a moment'],
    sentence: late,
  },
  {
    promise: 'a notice that is too long takes no other with it',
    file: 'stores/postgres/notice-payloads.ts',
    from: 'return fits(payload) ? payload : undefined;',
    to: 'return payload;',
    suite: [notices, 'that are too long for the server'],
    sentence: late,
  },
  {
    promise: 'one of many idle workers claims a due thread',
    file: 'agent/claim-turns.ts',
    from: 'if (ahead === 0) return this.#claim(threadId);',
    to: 'if (ahead >= 0) return this.#claim(threadId);',
    suite: [turns, 'claim each due thread once'],
    sentence: failed,
  },
  {
    promise: 'a thread whose first worker is gone is claimed by the next one',
    file: 'agent/claim-turns.ts',
    from: 'setTimeout(take, Math.min(',
    to: 'setTimeout(() => {}, Math.min(',
    suite: [turns, 'do not wait for one that is gone'],
    sentence: failed,
  },
  {
    promise: 'a thread waits for a few turns, however many workers are gone',
    file: 'agent/claim-turns.ts',
    from: 'Math.min(ahead, mostTurns)',
    to: 'ahead',
    suite: [turns, 'do not wait for one that is gone'],
    sentence: failed,
  },
  {
    promise: 'a worker that is gone delays one thread',
    file: 'agent/claim-turns.ts',
    from: 'this.#listAhead(threadId, hash)) this.#free.delete(silent);',
    to: 'this.#listAhead(threadId, hash)) void silent;',
    suite: [turns, 'do not wait for one that is gone'],
    sentence: failed,
  },
  {
    promise: 'nobody waits for a worker that is full',
    file: 'agent/claim-turns.ts',
    from: 'else this.#free.delete(worker);',
    to: '',
    suite: [turns, 'leave out those of other agents'],
    sentence: failed,
  },
  {
    promise: 'nobody waits for a worker of another agent',
    file: 'worker.ts',
    from: 'if (notice.agent === agent.name) this.#turns',
    to: 'this.#turns',
    suite: [turns, 'leave out those of other agents'],
    sentence: failed,
  },
  {
    promise: 'a worker that is told to stop gives back what it has not begun',
    file: 'worker.ts',
    from: 'else if (reached === revision) await this.#giveBack(claimed);',
    to: '',
    suite: ['agent/worker', 'told to stop while a thread is'],
    sentence: failed,
  },
  {
    promise: 'a role that may not drop the indexes of an older version can use the store',
    file: runner,
    from: 'await pool.query({ text }).catch(() => {});',
    to: 'await pool.query({ text });',
    suite: ['stores/postgres', 'where the role may not drop them'],
    sentence: /must be owner/,
  },
  {
    promise: 'nobody waits for long to drop an index, and no append behind it',
    file: runner,
    from: "set local lock_timeout = '500ms';",
    to: '',
    suite: ['stores/postgres', 'while somebody reads the table'],
    sentence: late,
  },
  {
    promise: 'a page by time has threads of every status',
    file: 'stores/postgres/statements.ts',
    from: 'where status > present.status)',
    to: "where status > present.status and status <> 'paused')",
    suite: ['stores/postgres', 'pages by time have the threads of all statuses'],
    sentence: failed,
  },
  {
    promise: 'what is appended while a thread is opened is read, or its deletion noticed',
    file: 'thread/thread-log.ts',
    from: 'if (!this.#endsAt(stored)) await this.#checkEnd();',
    to: '',
    suite: ['faults/deleted-meanwhile', 'while it was being opened'],
    sentence: failed,
  },
  {
    promise:
      'a statement that is sent again waits until the pool has noticed which connections are left',
    file: runner,
    from: '.catch(awaitPool)',
    to: '',
    suite: ['stores/pooler.deep', 'it .everyone.: it is written once'],
    sentence: /AssertionError/,
  },
];
