import type { SourceMutant } from './source-mutants.ts';

const later = 'ui/later-than-its-turn';
const sentence = /AssertionError|Error: expect/;

/** A call is shown where it was made, whenever it runs. */
export const viewMutants: readonly SourceMutant[] = [
  {
    promise: 'what is recorded of a call after its turn is shown in its turn',
    file: 'view/turns.ts',
    from: 'const turn = this.#findTurn(item) ?? this.#current;',
    to: 'const turn = this.#current;',
    suite: [later, 'together with a message'],
    sentence,
  },
  {
    promise: 'a page whose stream can’t show the end of a call reads the thread again',
    file: 'channels/ui/output/thread-chunks.ts',
    from: 'if (turn < this.#turn) yield* this.#markStale(revision);',
    to: '',
    suite: [later, 'runs after the next message'],
    sentence,
  },
  {
    promise: 'a call that has an answer and waits to run is in progress, also in an earlier turn',
    file: 'channels/ui/output/to-ui-messages.ts',
    from: 'chunks.push(...turnChunks.showStatus(calls));',
    to: 'if (isLast) chunks.push(...turnChunks.showStatus(calls));',
    suite: [later, 'while it waits'],
    sentence,
  },
  {
    promise: 'clients are sent nothing of a text while it is blank',
    file: 'view/streamed-step.ts',
    from: 'if (isBlank(text)) {',
    to: 'if (text === null) {',
    suite: ['ui/telling', 'before it says something'],
    sentence,
  },
];
