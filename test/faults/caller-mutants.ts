import type { SourceMutant } from './source-mutants.ts';

const failed = /AssertionError/;
const stuck = /AssertionError|timed out/;
const tenants = 'rap-tools/tenants';
const server = 'channels/rap/tool-server';

/** What holds of callers that share a tool server. */
export const callerMutants: readonly SourceMutant[] = [
  {
    promise: 'a grant is its caller’s',
    file: `${server}/grant-store.ts`,
    from: 'return JSON.stringify([id, groupId]);',
    to: 'return JSON.stringify([id.length, groupId]);',
    suite: [tenants, 'lets Globex delete nothing'],
    sentence: failed,
  },
  {
    promise: 'and its user’s',
    file: `${server}/grant-store.ts`,
    from: 'JSON.stringify([user, key])',
    to: 'JSON.stringify([user.length, key])',
    suite: [tenants, 'share neither a grant nor a call'],
    sentence: failed,
  },
  {
    promise: 'calls of two callers with the same ids are two calls',
    file: `${server}/running-calls.ts`,
    from: 'return JSON.stringify([caller.id, user, groupId, id]);',
    to: 'return JSON.stringify([caller.id.length, user, groupId, id]);',
    suite: [tenants, 'runs too'],
    sentence: stuck,
  },
  {
    promise: 'calls of two users with the same ids are two calls',
    file: `${server}/running-calls.ts`,
    from: 'JSON.stringify([caller.id, user, groupId, id])',
    to: 'JSON.stringify([caller.id, user.length, groupId, id])',
    suite: [tenants, 'share neither a grant nor a call'],
    sentence: stuck,
  },
  {
    promise: 'a caller has its own memory of ended calls',
    file: `${server}/running-calls.ts`,
    from: 'JSON.stringify(signatures === undefined ? null : id)',
    to: 'JSON.stringify(signatures === undefined ? null : id.length)',
    suite: [tenants, 'do not make a recorded call'],
    sentence: failed,
  },
  {
    promise: 'who signs a message stops no other caller’s calls',
    file: `${server}/handle-request.ts`,
    from: ': caller === signer;',
    to: ': caller !== undefined;',
    suite: [tenants, 'is answered as if the ids never existed'],
    sentence: failed,
  },
  {
    promise: 'where nothing is signed, only who knows a call’s callback URL stops it',
    file: `${server}/handle-request.ts`,
    from: 'callbackUrl === callback_url',
    to: 'callback_url === undefined || callbackUrl.split("?")[0] === callback_url?.split("?")[0]',
    suite: [tenants, 'is answered as if the ids never existed'],
    sentence: failed,
  },
  {
    promise: 'a message that names a user is about no other user',
    file: `${server}/handle-request.ts`,
    from: '(user_id ?? user[0]) === user[0]',
    to: 'user_id !== user',
    suite: [tenants, 'is about that user alone'],
    sentence: failed,
  },
  {
    promise: 'a prompt is answered by the caller whose call asks',
    file: `${server}/open-prompts.ts`,
    from: 'caller?.signatures === undefined ? null : caller.id',
    to: 'caller?.signatures === undefined ? null : caller.id.length',
    suite: [tenants, 'for an unknown prompt'],
    sentence: failed,
  },
  {
    promise: 'a secret is one caller’s',
    file: `${server}/callers.ts`,
    from: 'if (owner !== name) {',
    to: "if (owner === '') {",
    suite: [tenants, 'one secret for two callers'],
    sentence: failed,
  },
  {
    promise: 'a tool server hears of one user only where one person asked',
    file: 'channels/rap/to-server/send-call.ts',
    from: 'if (requester !== undefined && requester',
    to: 'if (requester === undefined) return undefined;\n  if (requester',
    suite: ['rap/for-whom', 'people who ask together'],
    sentence: failed,
  },
  {
    promise: 'somebody unknown may be anybody, on a tool server too',
    file: 'channels/rap/to-server/send-call.ts',
    from: 'requesters.includes(null) ? idempotencyKey : null',
    to: 'null',
    suite: ['rap/for-whom', 'may be anybody'],
    sentence: failed,
  },
  {
    promise: 'a call is for everybody who asked',
    file: 'agent/calls/call-origin.ts',
    from: 'soleRequester({ requesters }, principalId)',
    to: 'soleRequester({ requesters: requesters.slice(0, 1) }, principalId)',
    suite: ['rap/for-whom', 'people who ask together'],
    sentence: failed,
  },
  {
    promise: 'a call is known by each URL that it may have',
    file: 'channels/rap/to-server/messages-about.ts',
    from: 'return urls.map(',
    to: 'return urls.slice(0, 1).map(',
    suite: ['rap/for-whom', 'stops and finds its own calls'],
    sentence: failed,
  },
];
