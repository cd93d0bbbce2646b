import type { SourceMutant } from './source-mutants.ts';

const requests = 'stores/postgres-requests';
const rows = 'stores/postgres/request-rows.ts';
const feed = 'stores/postgres/request-feed.ts';
const failed = /AssertionError|error: /;

/** The requests of a Postgres database, and the feed of their changes. */
export const feedMutants: readonly SourceMutant[] = [
  {
    promise: 'a hook is given each change that an append makes',
    file: 'stores/sql/hooks.ts',
    from: 'onRequests(requests, transaction)',
    to: 'onRequests(requests.slice(1), transaction)',
    suite: ['faults/crash-points', 'in the hook of an append'],
    sentence: failed,
  },
  {
    promise: 'what a hook writes goes with an append that is not made',
    file: 'stores/sqlite-on/statements.ts',
    from: 'add(sql.requireBegun, threadId, ...hasBegun);',
    to: '',
    suite: ['faults/crash-points', 'in the hook of an append'],
    sentence: failed,
  },
  {
    promise: 'of an agent with few requests, a page reads no rows of others',
    file: 'stores/sql/request-queries.ts',
    from: 'readCount(await read(makeFewCount(query, dialect))) <= fewRows',
    to: 'readCount(await read(makeFewCount(query, dialect))) < 0',
    suite: ['stores/explain.deep', 'reads only the rows of an agent'],
    sentence: failed,
  },
  {
    promise: 'a change of a request that commits late has a late position',
    file: feed,
    from: "nextval('holdpoint_request_positions') as position",
    to: 'seq as position',
    suite: [requests, 'so that no reader misses it'],
    sentence: failed,
  },
  {
    promise: 'one reader at a time gives positions to changes',
    file: feed,
    from: 'select pg_advisory_xact_lock(7163384706), ${waitForDisk};',
    to: 'select ${waitForDisk};',
    suite: [requests, 'while another waits to give them'],
    sentence: failed,
  },
  {
    promise:
      'who gives positions sees what was committed while it waited, whatever the default of the database',
    file: feed,
    from: 'set transaction isolation level read committed;',
    to: '',
    suite: [requests, 'for readers that read at once'],
    sentence: failed,
  },
  {
    promise: 'a position that was read survives a crash of the server',
    file: feed,
    from: 'select pg_advisory_xact_lock(7163384706), ${waitForDisk};',
    to: 'select pg_advisory_xact_lock(7163384706);',
    suite: ['stores/postgres-restarts.deep', 'what a reader of the feed was told'],
    sentence: failed,
  },
  {
    promise: 'changes that one process holds are not given to another',
    file: feed,
    from: 'where consumers.position = excluded.position and (consumers.lease_until is null or consumers.lease_until <= $6)',
    to: '',
    suite: [requests, 'to two processes of one consumer'],
    sentence: failed,
  },
  {
    promise: 'changes are deleted without waiting for who gives them positions',
    file: feed,
    from: 'for update skip locked',
    to: 'for update nowait',
    suite: [requests, 'while others are deleted'],
    sentence: failed,
  },
  {
    promise: 'requests change only if their append is made',
    file: rows,
    from: "readValues(first, 'thread,')",
    to: "readValues(first, '')",
    suite: [requests, 'after a concurrent append'],
    sentence: failed,
  },
  {
    promise: 'a request is not found by those whom it names no more',
    file: rows,
    from: 'where former.request_id = changed.request_id',
    to: 'where false',
    suite: [requests, 'by those whom it names now'],
    sentence: failed,
  },
  {
    promise: 'a deleted thread takes also the rows that were filled in while it waited',
    file: rows,
    from: "ofThread: ' references holdpoint_threads on delete cascade'",
    to: "ofThread: ''",
    suite: [requests, 'filled in while it waited'],
    sentence: failed,
  },
  {
    promise: 'a text that Postgres can not store keeps no request from being written',
    file: rows,
    from: "text.replaceAll('\\0', '\\uFFFD').toWellFormed()",
    to: 'text',
    suite: [requests, 'of names that it can not'],
    sentence: failed,
  },
  {
    promise: 'a name that is longer than an index can hold keeps no request from being written',
    file: rows,
    from: 'toStorable(text.slice(0, longestKey))',
    to: 'toStorable(text)',
    suite: [requests, 'of names that it can not'],
    sentence: failed,
  },
  {
    promise: 'a tenant that is longer than an index can hold is none, and not another one',
    file: rows,
    from: 'tenant === null || tenant.length > longestKey ? null : toStorable(tenant)',
    to: 'tenant === null ? null : toKey(tenant)',
    suite: [requests, 'of names that it can not'],
    sentence: failed,
  },
  {
    promise: 'the hook about requests is called while a run holds the thread',
    file: 'stores/sql/hooks.ts',
    from: 'if (onRequests !== undefined && requests.length > 0) {',
    to: "if (onRequests !== undefined && requests.length > 0 && summary.status !== 'running') {",
    suite: [requests, 'also while a run holds the thread, and before onWake'],
    sentence: failed,
  },
];
