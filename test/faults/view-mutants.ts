import type { SourceMutant } from './source-mutants.ts';

const later = 'ui/later-than-its-turn';
const decided = 'ui/who-decided';
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
  {
    promise: 'a person’s name is recorded with each answer',
    file: 'agent/input/accept-input.ts',
    from: 'const recording = { tools, head: proposal.head, by, at: now };',
    to: 'const recording = { tools, head: proposal.head, by: input.by, at: now };',
    suite: [decided, 'a rejection, and why'],
    sentence,
  },
  {
    promise: 'the JSON of a principal is nobody’s name',
    file: 'view/items.ts',
    from: 'return person !== undefined && !/^[{[]/.test(person);',
    to: 'return person !== undefined;',
    suite: [decided, 'nobody is named'],
    sentence,
  },
  {
    promise: 'a decision that no longer counts is replaced on the page',
    file: 'channels/ui/output/call-chunks.ts',
    from: 'if (decision.person === undefined && this.#approved === undefined) return [];',
    to: 'if (decision.person === undefined) return [];',
    suite: [decided, 'no longer counts'],
    sentence,
  },
  {
    promise: 'an answer that is being sent is not shown as the decision',
    file: 'channels/ui/browser/shown-part.ts',
    from: 'const ended = isOpen ? [] : describeEnd(part, asked, findDecision);',
    to: 'const ended = describeEnd(part, asked, findDecision);',
    suite: [decided, 'being sent'],
    sentence,
  },
  {
    promise: 'a decision that no longer counts is on no result of a call',
    file: 'view/items.ts',
    from: 'if (decision.person === undefined) decisions.delete(requestId);',
    to: 'if (decision.person === undefined) continue;',
    suite: ['ag-ui/policy', 'no longer counts'],
    sentence,
  },
];
