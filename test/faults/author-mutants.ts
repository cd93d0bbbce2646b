import type { SourceMutant } from './source-mutants.ts';

const sentence = /AssertionError|Nothing is asked/;
const words = 'policy/resumed-words';

/** A message keeps its author, whoever has its reply written, edits it or goes on. */
export const authorMutants: readonly SourceMutant[] = [
  {
    promise: 'a stopped turn is left alone unless a person resumes it',
    within: 'checkAndAcquire',
    from: 'resumeStopped === true',
    to: 'true',
    suite: [words, 'is left alone by a worker'],
    sentence,
  },
  {
    promise: 'a scheduler does not resume what a person stopped',
    within: 'parseRunInput',
    from: '(isEmpty && resumeStopped !== true)',
    to: 'isEmpty',
    suite: [words, 'is left alone by a worker'],
    sentence,
  },
  {
    promise: 'nobody edits what somebody else has said',
    within: 'refuseEdit',
    from: 'if (isOwn) return;',
    to: 'return;',
    suite: [words, 'Ben’s edit of Ada’s message'],
    sentence,
  },
  {
    promise: 'an edit takes back nothing that somebody else has said since',
    within: 'listReplacedMessages',
    from: '[first, ...later.filter(isKept)]',
    to: 'later.filter(isKept).length < 0 ? [] : [first]',
    suite: [words, 'where Ben has written since'],
    sentence,
  },
  {
    promise: 'what somebody has withdrawn is not said by another, from a page that still shows it',
    within: 'findMessageState',
    from: "retracted.has(event)) return { type: 'edit', replaces: revision };",
    to: "retracted.has(event)) return { type: 'new' };",
    suite: [words, 'what Ada has withdrawn'],
    sentence,
  },
  {
    promise: 'what was answered on another channel becomes nobody else’s words',
    within: 'listNewPromptMessages',
    from: 'author === undefined || isSender(author)',
    to: 'author !== null',
    suite: ['middleware/whose-words', 'do not become Ben’s, who sends one message again'],
    sentence: /expected 'no error' to be 'invalid-input'/,
  },
  {
    promise: 'whoever answers says nothing that the history says',
    within: 'listNewPromptMessages',
    from: 'authors.length > 0',
    to: 'authors.length > 99',
    suite: ['middleware/whose-words', 'stay hers where Ben answers'],
    sentence: /AssertionError/,
  },
  {
    promise: 'behind holdPoint, a stopped message that somebody else sends stays its author’s',
    within: 'isTurnOver',
    from: 'isSender(begin.principal)',
    to: 'isSender(begin.principal) || true',
    suite: [words, 'first word, holdPoint'],
    sentence,
  },
  {
    promise: 'words that wait for a reply stay their author’s, though others have written since',
    within: 'isAmong',
    from: 'recorded > 0 && prompt',
    to: 'recorded > 9 && prompt',
    suite: ['policy/resumed-words', 'words that wait for a reply stay Ada'],
    sentence: /Nothing is asked/,
  },
  {
    promise: 'a stop of what no run holds names who stopped it',
    within: 'makeStoppedEvents',
    from: ', ...by',
    to: '',
    suite: ['acts/stopped-and-below', 'names her'],
    sentence,
  },
  {
    promise: "nobody retracts in a sub-agent's own thread what the agent above has said",
    within: 'agent/acts/retract',
    from: 'isOutermost: true,',
    to: '',
    suite: ['acts/stopped-and-below', 'retract in its own thread'],
    sentence,
  },
];
