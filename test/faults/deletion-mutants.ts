import type { SourceMutant } from './source-mutants.ts';

const failed = /AssertionError/;
const threads = 'agent/delete-threads';

/** Which threads are deleted by a filter. */
export const deletionMutants: readonly SourceMutant[] = [
  {
    promise: "a sub-agent's thread is deleted only with its parent",
    within: 'deleteThreads',
    from: 'readParentHash(threadId) === undefined',
    to: "threadId !== ''",
    suite: [threads, 'as long as its parent has its result to come'],
    sentence: failed,
  },
  {
    promise: 'the threads of all levels of sub-agents go with their parent',
    within: 'findFamilies',
    from: 'level = next;',
    to: 'level = new Map();',
    suite: [threads, 'with its sub-agents’ threads'],
    sentence: failed,
  },
  {
    promise: 'no thread is deleted below which a run is at work',
    within: 'refuseRunning',
    from: "status !== 'running'",
    to: "status === 'running'",
    suite: [threads, 'a sub-agent of it is at work'],
    sentence: failed,
  },
  {
    promise: 'nothing is deleted before it is archived',
    within: 'deleteBatch',
    from: '(lines.length > 0) await archive?.(lines)',
    to: '(lines.length > 0) void Promise.resolve(archive?.(lines)).catch(() => {})',
    suite: [threads, 'whose archive fails'],
    sentence: failed,
  },
  {
    promise: 'what is deleted is what was archived',
    within: 'writeLines',
    from: 'if (state.entries.at(-1)?.hash !== hash) throw new Error(changedMeanwhile);',
    to: '',
    suite: [threads, 'goes on while its log is read'],
    sentence: failed,
  },
  {
    promise: 'a group of threads of which one has changed stays whole, in memory',
    within: 'memoryStore',
    from: 'groups.filter((group) => group.every(isAtEnd)).flat()',
    to: 'groups.flat().filter(isAtEnd)',
    suite: ['stores/stores', 'groups of threads are deleted'],
    sentence: failed,
  },
  {
    promise: 'a group of threads of which one has changed stays whole, on SQLite',
    within: 'ofGroup',
    from: 'revision = other.value ->> 1 and hash',
    to: '(true or revision = other.value ->> 1) and (true or hash = hash) or hash',
    suite: ['stores/stores', 'groups of threads are deleted'],
    sentence: failed,
  },
  {
    promise: 'a group of threads of which one has changed stays whole, on Postgres',
    within: 'deleteThreads',
    from: 'and number not in (select number from partial)',
    to: '',
    suite: ['stores/postgres', 'groups of threads are deleted'],
    sentence: failed,
  },
  {
    promise: 'an archive of the command is for its owner alone',
    within: 'openArchive',
    from: "path, 'a+', 0o600",
    to: "path, 'a+', 0o644",
    suite: ['command/delete', 'for its owner alone'],
    sentence: failed,
  },
  {
    promise: 'a line of an archive that was cut off does not spoil the next one',
    within: 'openArchive',
    from: String.raw`(await lacksLineEnd(file)) ? '\n'`,
    to: "(await lacksLineEnd(file)) ? ''",
    suite: ['command/delete', 'does not spoil the next one'],
    sentence: failed,
  },
];
