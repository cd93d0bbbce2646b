import type { SourceMutant } from './source-mutants.ts';

const decided = 'ui/who-decided';
const sentence = /AssertionError|Error: expect/;

/** A call is shown where it was made, whenever it runs. */
export const viewMutants: readonly SourceMutant[] = [
  {
    promise: 'a person’s name is recorded with each answer',
    within: 'decideInput',
    from: 'proposal.head, by',
    to: 'proposal.head, by: input.by',
    suite: [decided, 'a rejection, and why'],
    sentence,
  },
  {
    promise: 'a decision that no longer counts is replaced on the page',
    within: 'CallChunks.#showDecision',
    from: 'decision.person === undefined && this.#approved === undefined',
    to: 'decision.person === undefined',
    suite: [decided, 'nobody in particular has ended'],
    sentence,
  },
  {
    promise: 'an answer that is being sent is not shown as the decision',
    within: 'showPart',
    from: 'isOpen ? [] : describeEnd(part, asked, findDecision)',
    to: 'describeEnd(part, asked, findDecision)',
    suite: [decided, 'being sent'],
    sentence,
  },
  {
    promise: 'a decision that no longer counts is on no result of a call',
    within: 'mapDecisions',
    from: '(decision.person === undefined) decisions.delete(requestId)',
    to: '(decision.person === undefined) continue',
    suite: ['ag-ui/policy', 'nobody in particular ended'],
    sentence,
  },
];
