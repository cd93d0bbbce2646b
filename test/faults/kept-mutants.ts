import type { SourceMutant } from './source-mutants.ts';

const kept = 'thread/kept-entries';
const snapshots = 'thread/snapshots';
const failed = /AssertionError|HoldpointError: /;

/** What is kept so that it is not made again, and must never be stale, foreign or poisoned. */
export const keptMutants: readonly SourceMutant[] = [
  {
    promise: 'an entry counts as verified only after the entry that it was verified after',
    file: 'thread/log-entry.ts',
    from: 'if (SealedEntry.factsOf(entry)?.previous === end.hash)',
    to: 'if (SealedEntry.factsOf(entry)?.previous !== undefined)',
    suite: [kept, 'where it follows another one'],
    sentence: failed,
  },
  {
    promise: 'an entry of which anything is kept can not be changed',
    file: 'thread/log-entry.ts',
    from: 'Object.freeze(this);',
    to: '',
    suite: [kept, 'nobody can change'],
    sentence: failed,
  },
  {
    promise: 'nobody can change the events that are kept',
    file: 'thread/log-entry.ts',
    from: 'const content = { events: freezeDeep(events), snapshot, hash };',
    to: 'const content = { events, snapshot, hash };',
    suite: [kept, 'reaches no other handle'],
    sentence: failed,
  },
  {
    promise: 'a snapshot counts only if the log vouches for it',
    file: 'thread/thread-snapshot.ts',
    from: 'told !== (await digestSnapshot(text))',
    to: 'told === undefined',
    suite: [snapshots, 'was changed is read whole'],
    sentence: failed,
  },
  {
    promise: 'the snapshot of one thread is not the state of another',
    file: 'thread/thread-snapshot.ts',
    from: '!isOfLog || content.threadId !== threadId',
    to: '!isOfLog',
    suite: [snapshots, 'copied to another thread'],
    sentence: failed,
  },
  {
    promise: 'a snapshot of another version is not read',
    file: 'thread/thread-snapshot.ts',
    from: "if (Reflect.get(Object(json), 'v') !== snapshotVersion) return undefined;",
    to: '',
    suite: [snapshots, 'another version is not read'],
    sentence: failed,
  },
  {
    promise: 'the entries after a snapshot are verified',
    file: 'thread/thread-log.ts',
    from: 'const verified = verifyEntry(entry, this.#end());',
    to: 'const verified = readEntry(entry);',
    suite: [snapshots, 'found when the thread is opened'],
    sentence: failed,
  },
  {
    promise: 'verify reads what is behind the snapshot',
    file: 'thread/thread-log.ts',
    from: '{ ...this.#options, ignoresSnapshots: true }',
    to: '{ ...this.#options }',
    suite: [snapshots, 'behind a snapshot is found by verify'],
    sentence: failed,
  },
  {
    promise: 'verify compares the snapshot with the log',
    file: 'thread/thread-snapshot.ts',
    from: 'if (stringifySorted(json) === stringifySorted(toJson(makeSnapshotContent(state)))) return;',
    to: 'if (state.events.length > 0) return;',
    suite: [snapshots, 'a forged log vouches'],
    sentence: failed,
  },
  {
    promise: 'a snapshot has all that the thread consists of',
    file: 'thread/thread-snapshot.ts',
    from: '    pastCalls,\n    endedRequests: new Map',
    to: '    pastCalls: [],\n    endedRequests: new Map',
    suite: [snapshots, 'is the same as the one that was written'],
    sentence: failed,
  },
  {
    promise: 'a tool does not get the schema of another one',
    file: 'agent/calls/input-validation.ts',
    from: 'const known = new WeakMap<object, SchemaTexts>();',
    to: 'const known = { kept: undefined, get() { return this.kept; }, set(key, texts) { this.kept = texts; } };',
    suite: ['agent/shared-schemas', 'a schema of its own'],
    sentence: failed,
  },
  {
    promise: 'a schema that the app may change is not kept',
    file: 'agent/calls/input-validation.ts',
    from: 'const isFixed = isStandardSchema(inputSchema);',
    to: "const isFixed = typeof inputSchema === 'object' && inputSchema !== null;",
    suite: ['agent/shared-schemas', 'a schema object that the app changes'],
    sentence: failed,
  },
  {
    promise: 'what a provider changes in a schema is not kept',
    file: 'agent/calls/input-validation.ts',
    from: 'return { schema: JSON.parse(texts.plain), canonical: texts.canonical };',
    to: 'return { schema: (Object(known)[texts.plain] ??= JSON.parse(texts.plain)), canonical: texts.canonical };',
    suite: ['agent/shared-schemas', 'what a provider changes'],
    sentence: failed,
  },
];
