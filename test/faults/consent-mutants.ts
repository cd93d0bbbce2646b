import type { SourceMutant } from './source-mutants.ts';

const suite = ['faults/consent.deep', 'nothing starts but what enough people'] as const;

/** What histories of people who do whatever they can must find. */
export const consentMutants: readonly SourceMutant[] = [
  {
    promise: 'whoever votes and loses their right does not count in a right that was lent to them',
    within: 'findRevokedVoters',
    from: 'await holdsRight(mayAnswer, { request, asked }, readRight(vote))',
    to: 'await findRight(mayAnswer, { request, asked, within: undefined }, () => new HoldpointError("not-allowed", "no")).catch(() => false)',
    suite,
    sentence: /"clause": "votes"/,
  },
  {
    promise: 'whatever people do, a right that was lent makes no standing approval',
    within: 'whyNotOwn',
    from: 'onBehalfOf === undefined',
    to: 'onBehalfOf !== null',
    suite,
    sentence: /"clause": "lent rights"/,
  },
  {
    promise: 'nor later, when whoever answered so has the right themselves',
    within: 'findOwnApproval',
    from: 'onBehalfOf !== undefined',
    to: 'onBehalfOf === null',
    suite,
    sentence: /"clause": "lent rights"/,
  },
  {
    promise: 'whatever people do, an approval says what it is for once somebody has edited',
    within: 'chooseEdit',
    from: 'now.wasEdited !== true ||',
    to: 'now.edit === undefined ||',
    suite,
    sentence: /"clause": "edits"/,
  },
  {
    promise: 'whatever people do, a stop holds what is approved',
    within: 'stopTurn',
    from: 'holdApprovals(head, { andRestarts: true });',
    to: '',
    suite,
    sentence: /"clause": "stops"/,
  },
  {
    promise: 'whatever people do, only somebody who may reject a held call releases it',
    within: 'splitAllowed',
    from: 'await refuseRejection(approval);',
    to: '',
    suite,
    sentence: /"clause": "stops"/,
  },
];
