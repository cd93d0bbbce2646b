import type { SourceMutant } from './source-mutants.ts';

const failed = /AssertionError/;
const idle = 'ui/following';

/** What holds of pages that follow a thread, and of those that are offline. */
export const followMutants: readonly SourceMutant[] = [
  {
    promise: 'a page that was opened before the first message is one of them',
    file: 'channels/ui/browser/thread-reader.ts',
    from: 'if (seen === undefined || !isIdle()',
    to: "if (seen === undefined || seen === '0.idle' || !isIdle()",
    suite: [idle, 'that was opened before the first message'],
    sentence: failed,
  },
  {
    promise: 'a held request is answered at the store’s notice',
    file: 'agent/watch-thread.ts',
    from: 'notice === undefined || notice.threadId === threadId',
    to: 'notice === undefined',
    suite: [idle, 'is told of a request at once'],
    sentence: failed,
  },
  {
    promise: 'a change without a notice is found by a poll',
    file: 'agent/watch-thread.ts',
    from: 'Promise.race([wakeUp.wait(), wait(delay, ends)])',
    to: 'wakeUp.wait()',
    suite: [idle, 'shows a message and its reply'],
    sentence: failed,
  },
  {
    promise: 'a page that leaves is watched for no longer',
    file: 'channels/ui/output/held-response.ts',
    from: '      cancel: end,\n',
    to: '',
    suite: [idle, 'when its body is cancelled'],
    sentence: failed,
  },
  {
    promise: 'a server that reports it by the request ends it too',
    file: 'channels/ui/output/held-response.ts',
    from: "  else request.signal.addEventListener('abort', end, { once: true });\n",
    to: '',
    suite: [idle, 'when its request is aborted'],
    sentence: failed,
  },
  {
    promise: 'a hidden tab asks nothing',
    file: 'channels/ui/browser/thread-follower.ts',
    from: 'if (isVisible(browser)) {',
    to: 'if (browser !== null) {',
    suite: [idle, 'sends nothing, and shows what happened'],
    sentence: failed,
  },
  {
    promise: 'one request waits for a browser',
    file: 'channels/ui/browser/page-browser.ts',
    from: 'document === undefined || navigator?.locks === undefined',
    to: 'navigator !== null',
    suite: [idle, 'the visible tabs of a browser'],
    sentence: failed,
  },
  {
    promise: 'the request that waits says for whom it does',
    file: 'channels/ui/browser/thread-route.ts',
    from: '&follow`, init], this.#viewer());',
    to: '&follow`, init], undefined);',
    suite: [idle, 'says for whom it was loaded'],
    sentence: failed,
  },
  {
    promise: 'a proxy that cuts what waits is no lost server',
    file: 'channels/ui/browser/thread-route.ts',
    from: 'return fetchIfReached(async () => fetch(...held));',
    to: 'return this.fetch(`${this.#makeUrl(seen)}&follow`, init);',
    suite: [idle, 'that lets no request wait so long'],
    sentence: failed,
  },
  {
    promise: 'what one conversation finds out of the server holds for all',
    file: 'channels/ui/browser/connection.ts',
    from: 'const connection = routes.get(api) ?? new Connection();',
    to: 'const connection = new Connection();',
    suite: [idle, 'is noticed by one conversation for all'],
    sentence: failed,
  },
  {
    promise: 'an answer goes at once when the connection is back',
    file: 'channels/ui/browser/lost-connection.ts',
    from: 'AbortSignal.any([ends, connection.pause])',
    to: 'ends',
    suite: [idle, 'sends an answer by itself'],
    sentence: failed,
  },
  {
    promise: 'a browser that calls itself offline is not believed for long',
    file: 'channels/ui/browser/thread-follower.ts',
    from: 'if (isVisible(browser)) void reader.refresh();',
    to: '',
    suite: [idle, 'is not believed of a server that can be reached'],
    sentence: failed,
  },
];
