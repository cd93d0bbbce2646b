import type { SourceMutant } from './source-mutants.ts';

const failed = /AssertionError/;
const idle = 'ui/following';

/** What holds of pages that follow a thread, and of those that are offline. */
export const followMutants: readonly SourceMutant[] = [
  {
    promise: 'a page that was opened before the first message is one of them',
    within: 'ThreadReader.look',
    from: 'seen === undefined || isTold',
    to: "seen === undefined || seen === '0.idle' || isTold",
    suite: [idle, 'that was opened before the first message'],
    sentence: failed,
  },

  {
    promise: 'a change without a notice is found by a poll',
    within: 'watchThread',
    from: 'Promise.race([wakeUp.wait(), wait(delay, ends)])',
    to: 'wakeUp.wait()',
    suite: [idle, 'shows a message and its reply'],
    sentence: failed,
  },
  {
    promise: 'a page that leaves is watched for no longer',
    within: 'makeHeldResponse',
    from: 'cancel: end',
    to: 'cancel() {}',
    suite: [idle, 'when its body is cancelled'],
    sentence: failed,
  },
  {
    promise: 'a server that reports it by the request ends it too',
    within: 'makeHeldResponse',
    from: "else request.signal.addEventListener('abort', end, { once: true });",
    to: '',
    suite: [idle, 'when its request is aborted'],
    sentence: failed,
  },

  {
    promise: 'the request that waits says for whom it does',
    within: 'ThreadRoute.hold',
    from: 'this.#viewer()',
    to: 'undefined',
    suite: [idle, 'says for whom it was loaded'],
    sentence: failed,
  },

  {
    promise: 'another id is another conversation',
    within: 'useThreadChat',
    from: '}, [id, api]);',
    to: '}, [api]);',
    suite: ['ui/following-in-chromium.deep', 'another id in the address'],
    sentence: /Timeout|AssertionError/,
  },

  {
    promise: 'an answer that got no word is sent again',
    within: 'fetchPatiently',
    from: "else connection.pause.addEventListener('abort', giveUp, { once: true });",
    to: '',
    suite: [idle, 'where an answer gets no word'],
    sentence: failed,
  },
  {
    promise: 'a page reads the state of the thread from no message of a person',
    within: 'readShownState',
    from: "last?.role === 'assistant' ?",
    to: 'last !== undefined ?',
    suite: [idle, 'does not believe what the sender of a message says'],
    sentence: failed,
  },
];
