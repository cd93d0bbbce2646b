import type { SourceMutant } from './source-mutants.ts';

const failed = /AssertionError/;
const collected = 'mcp/collected-calls';
const http = 'mcp/http';
const changed = 'mcp/changed-tools';

/** What keeps a call at a gate to its caller, and one call one. */
export const gateMutants: readonly SourceMutant[] = [
  {
    promise: 'nobody collects the call of another person',
    file: 'channels/mcp/find-call.ts',
    from: '`holdpoint/gate-call/v1\\0${text}`, principal)',
    to: '`holdpoint/gate-call/v1\\0${text}`, undefined)',
    suite: [collected, 'another person never collects'],
    sentence: failed,
  },
  {
    promise: 'no client collects the call of another one, or from another place',
    file: 'channels/mcp/find-call.ts',
    from: '[client, place ?? null, tool, input]',
    to: '[typeof client, typeof place, tool, input]',
    suite: [collected, 'another client never collects'],
    sentence: failed,
  },
  {
    promise: 'two calls that two gates hold at once are two calls',
    file: 'channels/mcp/find-call.ts',
    from: "if (isHeld && thread.status === 'waiting') return 'other';",
    to: "if (isHeld && thread.status === 'idle') return 'other';",
    suite: [collected, 'two calls that are held at once'],
    sentence: failed,
  },
  {
    promise: 'a call that a live gate runs is not taken for a lost one',
    file: 'channels/mcp/find-call.ts',
    from: 'if (thread.revision !== revision) return undefined;',
    to: 'if (thread.revision !== revision) return thread;',
    suite: [collected, 'not taken for a lost one'],
    sentence: failed,
  },
  {
    promise: "a client's own id of a call is the same call",
    file: 'channels/mcp/find-call.ts',
    from: 'readCallRecord(thread)?.clientCallId === clientCallId)',
    to: 'readCallRecord(thread)?.client === clientCallId)',
    suite: [collected, "client's own id"],
    sentence: failed,
  },
  {
    promise: 'one of two gates takes up a pending call',
    file: 'channels/mcp/note-call.ts',
    from: 'before?.callerId === caller?.callerId &&',
    to: "(before?.callerId === caller?.callerId || before?.state !== 'informed') ||",
    suite: [collected, 'of two gates that take up one pending call'],
    sentence: failed,
  },
  {
    promise: 'a client that has disconnected is noticed over HTTP, and nothing runs for it',
    file: 'channels/mcp/answer-call.ts',
    from: 'AbortSignal.any([signal, connection.gone])',
    to: 'AbortSignal.any([signal])',
    suite: [http, 'a response that is read no longer'],
    sentence: failed,
  },
  {
    promise: 'a result counts as read only if its response was read',
    file: 'channels/mcp/answer-call.ts',
    from: '(gone.aborted ? noteLeft : noteInformed)',
    to: '(gone.aborted ? noteInformed : noteInformed)',
    suite: [http, 'a result that no one read'],
    sentence: failed,
  },
  {
    promise: 'a session of a gate belongs to the person who opened it',
    file: 'channels/mcp/serve-http.ts',
    from: 'people?.isSame(caller.principal, principal) === true',
    to: 'people?.isSame(caller.principal, caller.principal) === true',
    suite: [http, 'a session belongs to the person'],
    sentence: failed,
  },
  {
    promise: 'a page of another site uses no gate',
    file: 'channels/mcp/serve-http.ts',
    from: 'if (foreign !== undefined) return foreign;',
    to: 'if (foreign?.ok === true) return foreign;',
    suite: [http, 'a page of another site is refused'],
    sentence: failed,
  },
  {
    promise: 'a session that is in use is not closed for another one',
    file: 'channels/mcp/http-sessions.ts',
    from: 'if (session.open > 0) continue;',
    to: 'if (session.open > 1) continue;',
    suite: [http, 'while all sessions are in use'],
    sentence: failed,
  },
  {
    promise: 'an approval does not count for a tool that has changed since',
    file: 'agent/calls/tool-definitions.ts',
    from: 'if (last?.tools === tools) return last.defined;',
    to: 'if (last !== undefined) return last.defined;',
    suite: [changed, 'is asked again'],
    sentence: failed,
  },
  {
    promise: 'nobody is asked about a call of a tool whose change was not accepted',
    file: 'channels/mcp/hold-call.ts',
    from: "if (reason !== undefined) throw new HoldpointError('not-allowed', reason);",
    to: "if (reason === '') throw new HoldpointError('not-allowed', reason);",
    suite: [changed, 'asks nobody'],
    sentence: failed,
  },
];
