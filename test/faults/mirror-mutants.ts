import type { SourceMutant } from './source-mutants.ts';

/** What holds for the requests that a thread shows for its sub-agents, and for the times in a log. */
export const mirrorMutants: readonly SourceMutant[] = [
  {
    promise: 'the times in a log never go back',
    file: 'thread/proposal.ts',
    from: 'if (event.at < latest) return { ...event, at: latest };',
    to: '',
    suite: ['agent/event-times', 'never go back'],
    sentence: /AssertionError/,
  },
];
