import type { SourceMutant } from './source-mutants.ts';

const inTime = 'policy/yes-in-time';
const below = 'tools/call-deadlines';
const failed = /AssertionError/;

/** What holds for the time of an answer, and for the time from it to the start. */
export const deadlineMutants: readonly SourceMutant[] = [
  {
    promise: 'an approval that was given too long ago starts nothing',
    within: 'startUnlessDenied',
    from: 'if (isExpired({ expiresAt: approved.startBy }, input.now())) {',
    to: 'if (approved.startBy === 0) {',
    suite: [inTime, 'starts nothing for a day'],
    sentence: failed,
  },
  {
    promise: 'a start is counted from the decision, not from the request',
    within: 'applyRequestAnswered',
    from: 'startBy: event.at + readStartWithinMs(request)',
    to: 'startBy: request.createdAt + readStartWithinMs(request)',
    suite: [inTime, 'so long after the decision'],
    sentence: failed,
  },
  {
    promise: 'a call has at least a day to start',
    within: 'readStartWithinMs',
    from: 'Math.max(expiresAt - createdAt, day)',
    to: 'expiresAt - createdAt',
    suite: [inTime, 'a yes in time runs'],
    sentence: failed,
  },
  {
    promise: 'a call may start for as long as its request could be answered',
    within: 'readStartWithinMs',
    from: 'Math.max(expiresAt - createdAt, day)',
    to: 'day',
    suite: [inTime, 'so long after the decision'],
    sentence: failed,
  },
  {
    promise: 'the setting of a rule says how long a call may take to start',
    within: 'readStartWithinMs',
    from: 'return startWithinMs ?? Math.max(',
    to: 'return Math.max(startWithinMs ?? 0, ',
    suite: [inTime, 'so long after the decision'],
    sentence: failed,
  },
  {
    promise: 'an answer is late that the log would have after the deadline',
    within: 'decideInput',
    from: 'Math.max(now, findLatestTime(state))',
    to: 'now',
    suite: [inTime, 'a clock that is set back'],
    sentence: failed,
  },
  {
    promise: 'an approval for another time to start is no approval of an edited input',
    within: 'pickDemands',
    from: 'return { approvers, notRequester, quorum, requireReason, startWithinMs, risk };',
    to: 'return { approvers, notRequester, quorum, requireReason, risk };',
    suite: [inTime, 'less time to start'],
    sentence: /Nothing is asked/,
  },
  {
    promise: 'a yes of a sub-agent is shown before its request could be closed as expired',
    within: 'prepareExpiry',
    from: 'if (below.length > 0) await showBelow(context, log, { answers: below });',
    to: '',
    suite: [below, 'before the thread above showed it'],
    sentence: failed,
  },
  {
    promise: 'people above read how long a sub-agent may take to start',
    within: 'passRequestOn',
    from: 'const starts = isShorter ? { startWithinMs } : {};',
    to: 'const starts = {};',
    suite: [below, 'how long the sub-agent may take'],
    sentence: failed,
  },
  {
    promise: 'a lost call is not started again on an approval that is too old',
    within: 'startUnlessDenied',
    from: 'if (isExpired({ expiresAt: approved.startBy }, input.now())) {',
    to: "if (call.status !== 'indeterminate' && isExpired({ expiresAt: approved.startBy }, input.now())) {",
    suite: ['agent/lost-calls', 'too old'],
    sentence: failed,
  },
  {
    promise: 'an escalation without a quorum of its own needs as many people as before',
    within: 'describeNextRequest',
    from: '...again.terms, ...next.terms',
    to: '...again.terms, quorum: undefined, ...next.terms',
    suite: ['policy/expiry-attacks', 'is for the other approvers alone'],
    sentence: failed,
  },
];
