import type { SourceMutant } from './source-mutants.ts';

const sentence = /AssertionError|Nothing is asked/;
const words = 'policy/resumed-words';

/** A message keeps its author, whoever has its reply written, edits it or goes on. */
export const authorMutants: readonly SourceMutant[] = [
  {
    promise: 'a stopped turn is left alone unless a person resumes it',
    file: 'agent/run/open-run.ts',
    from: 'const isResumed = resumeStopped === true &&',
    to: 'const isResumed = true &&',
    suite: [words, 'is left alone by a worker'],
    sentence,
  },
  {
    promise: 'a scheduler does not resume what a person stopped',
    file: 'agent/run-thread.ts',
    from: '(isEmpty && resumeStopped !== true)',
    to: 'isEmpty',
    suite: [words, 'is left alone by a worker'],
    sentence,
  },
  {
    promise: 'nobody edits what somebody else has said',
    file: 'agent/input/sent-messages.ts',
    from: 'isSender?.(principal) === true',
    to: 'isSender !== null || principal',
    suite: [words, 'Ben’s edit of Ada’s message'],
    sentence,
  },
  {
    promise: 'an edit takes back nothing that somebody else has said since',
    file: 'agent/input/sent-messages.ts',
    from: 'return [first, ...later.filter(isKept)];',
    to: 'return later.filter(isKept).length < 0 ? [] : [first];',
    suite: [words, 'where Ben has written since'],
    sentence,
  },
  {
    promise: 'what somebody has withdrawn is not said by another, from a page that still shows it',
    file: 'channels/ui/input/user-message.ts',
    from: "retracted.has(event)) return { type: 'edit', replaces: revision };",
    to: "retracted.has(event)) return { type: 'new' };",
    suite: [words, 'what Ada has withdrawn'],
    sentence,
  },
  {
    promise: 'what was answered on another channel becomes nobody else’s words',
    file: 'middleware/new-input.ts',
    from: 'author === undefined || isSender(author)',
    to: 'author !== null',
    suite: ['middleware/whose-words', 'do not become Ben’s, who sends one message again'],
    sentence: /expected 'no error' to be 'invalid-input'/,
  },
  {
    promise: 'whoever answers says nothing that the history says',
    file: 'middleware/new-input.ts',
    from: 'authors.length > 0 ? own.slice',
    to: 'authors.length > 99 ? own.slice',
    suite: ['middleware/whose-words', 'stay hers where Ben answers'],
    sentence: /AssertionError/,
  },
  {
    promise: 'behind holdPoint, a stopped message that somebody else sends stays its author’s',
    file: 'middleware/new-input.ts',
    from: 'isSender(begin.principal);',
    to: 'isSender(begin.principal) || true;',
    suite: [words, 'first word, holdPoint'],
    sentence,
  },
  {
    promise: 'words that wait for a reply stay their author’s, though others have written since',
    file: 'middleware/new-input.ts',
    from: 'recorded > 0 && prompt',
    to: 'recorded > 9 && prompt',
    suite: ['policy/resumed-words', 'words that wait for a reply stay Ada'],
    sentence: /Nothing is asked/,
  },
];
