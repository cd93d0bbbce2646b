import type { SourceMutant } from './source-mutants.ts';

const held = 'middleware/shared-history';
const page = 'ui/shared-history';
const sentence = /AssertionError|Error: expect/;

/** What stands in a history that people share is nobody's answer, except at its very end. */
export const historyMutants: readonly SourceMutant[] = [
  {
    promise: 'a part before a new message is no answer of its sender',
    file: 'middleware/read-prompt.ts',
    from: 'answers: answersIn(rest.at(-1)),',
    to: 'answers: answersIn(rest[last]),',
    suite: [held, 'Ada’s question is no yes'],
    sentence,
  },
  {
    promise: 'a message of answers before another message is no answer of its sender',
    file: 'middleware/read-prompt.ts',
    from: 'newest.slice(-1);',
    to: 'newest;',
    suite: [held, 'several messages of answers'],
    sentence,
  },
  {
    promise: 'a yes to what was shown before a vote is a repetition',
    file: 'agent/input/answers-by-approval-id.ts',
    from: '!isOutdated || isRejection(answer)',
    to: 'isOutdated || true',
    suite: [held, 'nor the same history from him'],
    sentence,
  },
  {
    promise: 'an approval id that the log does not give names no request',
    file: 'thread/approval-ids.ts',
    from: 'now === undefined || Number(count) > now',
    to: 'now === undefined',
    suite: [held, 'an approval from before a withdrawal'],
    sentence,
  },
  {
    promise: 'a vote that was taken back gives its request a fresh id',
    file: 'thread/approval-ids.ts',
    from: "case 'vote-withdrawn':",
    to: '',
    suite: [held, 'an approval from before a withdrawal'],
    sentence,
  },
  {
    promise: 'a request whose answer left it open is asked again in the last step',
    file: 'middleware/asked-in-prompt.ts',
    from: 'return asked > shownAnswers',
    to: 'return asked + shownAnswers.length > shownAnswers',
    suite: [held, 'plain useChat'],
    sentence,
  },
  {
    promise: 'a refused answer is asked for again in the last step',
    file: 'middleware/run-parts.ts',
    from: '...this.#refusedRequests(),',
    to: '',
    suite: [held, 'plain useChat'],
    sentence,
  },
  {
    promise: 'an answer before a message is not dropped in silence',
    file: 'middleware/run-stream.ts',
    from: 'if (instead !== undefined) {',
    to: 'if (instead === null) {',
    suite: [held, 'Ada’s question is no yes'],
    sentence: /requests-open|waits for 1 answer/,
  },
  {
    promise: 'a yes that a message follows on a page is history',
    file: 'channels/ui/input/page-input.ts',
    from: '!isFollowed || isRejection(answer)',
    to: 'isFollowed || true',
    suite: [page, 'all parts at the very end'],
    sentence,
  },
  {
    promise: 'a yes in an earlier step of a page’s last message is history',
    file: 'channels/ui/input/chat-request.ts',
    from: 'lastApprovalAnswers(sent) : []',
    to: 'approvalAnswers(sent) : []',
    suite: [page, 'all parts at the very end'],
    sentence,
  },
  {
    promise: 'our transport sends as answers what was clicked on its page',
    file: 'channels/ui/browser/use-chat-options.ts',
    from: 'isGiven?.(requestId) ?? isGivenHere;',
    to: 'isGiven?.(requestId) ?? (isGivenHere || true);',
    suite: [page, 'our transport sends Ada’s click'],
    sentence,
  },
  {
    promise: 'a page sees a request open again whose answer was refused',
    file: 'channels/ui/asked-again.ts',
    from: 'if (!isOpenForOthers ||',
    to: 'if (isOpenForOthers ||',
    suite: [page, 'Eve is refused'],
    sentence,
  },
  {
    promise: 'a stream that nobody reads gives its thread back when its lease is over',
    file: 'middleware/hold-point.ts',
    from: "Math.min(checkedMs(unreadTimeoutMs, 'unreadTimeoutMs'), leaseMs)",
    to: "checkedMs(unreadTimeoutMs, 'unreadTimeoutMs')",
    suite: ['middleware/held-stream', 'when its lease is over'],
    sentence,
  },
];
