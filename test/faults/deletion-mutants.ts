import type { SourceMutant } from './source-mutants.ts';

const failed = /AssertionError/;
const threads = 'agent/delete-threads';
const file = 'thread/delete-threads.ts';

/** Which threads are deleted by a filter. */
export const deletionMutants: readonly SourceMutant[] = [
  {
    promise: "a sub-agent's thread is deleted only with its parent",
    file,
    from: 'readParentHash(threadId) === undefined',
    to: "threadId !== ''",
    suite: [threads, 'as long as its parent has its result to come'],
    sentence: failed,
  },
  {
    promise: 'the threads of all levels of sub-agents go with their parent',
    file,
    from: 'level = next;',
    to: 'level = new Map();',
    suite: [threads, 'with its sub-agents’ threads'],
    sentence: failed,
  },
  {
    promise: 'no thread is deleted below which a run is at work',
    file,
    from: "status !== 'running' ||",
    to: "status === 'running' ||",
    suite: [threads, 'a sub-agent of it is at work'],
    sentence: failed,
  },
  {
    promise: 'nothing is deleted before it is archived',
    file,
    from: 'if (lines.length > 0) await archive?.(lines);',
    to: 'if (lines.length > 0) void Promise.resolve(archive?.(lines)).catch(() => {});',
    suite: [threads, 'whose archive fails'],
    sentence: failed,
  },
  {
    promise: 'what is deleted is what was archived',
    file,
    from: 'if (state.entries.at(-1)?.hash !== hash) throw new Error(changedMeanwhile);',
    to: '',
    suite: [threads, 'goes on while its log is read'],
    sentence: failed,
  },
  {
    promise: 'a group of threads of which one has changed stays whole, in memory',
    file: 'stores/memory.ts',
    from: 'groups.filter((group) => group.every(isAtEnd)).flat()',
    to: 'groups.flat().filter(isAtEnd)',
    suite: ['stores/stores', 'groups of threads are deleted'],
    sentence: failed,
  },
  {
    promise: 'a group of threads of which one has changed stays whole, on SQLite',
    file: 'stores/sqlite-on/deletion.ts',
    from: 'revision = other.value ->> 1 and hash',
    to: '(true or revision = other.value ->> 1) and (true or hash = hash) or hash',
    suite: ['stores/stores', 'groups of threads are deleted'],
    sentence: failed,
  },
  {
    promise: 'a group of threads of which one has changed stays whole, on Postgres',
    file: 'stores/postgres/deletion.ts',
    from: ' and number not in (select number from partial)',
    to: '',
    suite: ['stores/postgres', 'groups of threads are deleted'],
    sentence: failed,
  },
  {
    promise: 'an archive of the command is for its owner alone',
    file: 'command/delete-command.ts',
    from: "open(path, 'a+', 0o600)",
    to: "open(path, 'a+', 0o644)",
    suite: ['command/delete', 'for its owner alone'],
    sentence: failed,
  },
  {
    promise: 'a line of an archive that was cut off does not spoil the next one',
    file: 'command/delete-command.ts',
    from: "(await lacksLineEnd(file)) ? '\\n' : ''",
    to: "(await lacksLineEnd(file)) ? '' : ''",
    suite: ['command/delete', 'does not spoil the next one'],
    sentence: failed,
  },
];
