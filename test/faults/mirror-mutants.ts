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
  {
    promise: 'a sub-agent records an answer before the thread above shows it',
    file: 'agent/input/answers-below.ts',
    from: 'for (const { record } of passed) await record();',
    to: '',
    suite: votes('Ada votes and leaves'),
    sentence: /AssertionError|Error: Nothing is open/,
  },
  {
    promise: "the parent's mayAnswer limits edits of a sub-agent's call",
    file: 'agent/input/weigh-answer.ts',
    from: 'const both = { request, asked, edited: askedAnswer(made, response, by) };',
    to: 'const both = { request, asked, ...(made && {}) };',
    suite: votes("the parent's mayAnswer limits"),
    sentence: /AssertionError/,
  },
  {
    promise: 'after the end of an edit below, an answer above has the digest of what is shown',
    file: 'tools/mirror-requests.ts',
    from: 'if (event.endsEdit === true) {',
    to: 'if (false) {',
    suite: votes('the vote of its author'),
    sentence: /AssertionError/,
  },
  {
    promise: 'what was recorded below is shown once',
    file: 'tools/mirror-requests.ts',
    from: 'mirrors > (last ?? 0)',
    to: 'mirrors > 0',
    suite: votes('Ada votes and leaves'),
    sentence: /HoldpointError|AssertionError/,
  },
  {
    promise: 'a refused answer shows what was decided below',
    file: 'agent/input/answers-below.ts',
    from: 'if (HoldpointError.isInstance(error)) await showBelow(context, log, input);',
    to: '',
    suite: votes('another answer shows'),
    sentence: /AssertionError/,
  },
  {
    promise: 'an approval below is not shown as cancelled',
    file: 'tools/cancel-delegated.ts',
    from: 'proposal.add(...decided.flatMap((events) => events(proposal, at)));',
    to: '',
    suite: votes('is shown as approved'),
    sentence: /AssertionError/,
  },
  {
    promise: 'nobody approves another input than they saw',
    file: 'tools/own-answer.ts',
    from: 'if (!isPlainYes) return answer;',
    to: 'if (digest !== null) return answer;',
    suite: votes('took back the edit'),
    sentence: /AssertionError/,
  },
  {
    promise: 'a call does not wait for ever for a request that only the thread above has closed',
    file: 'tools/agent-work.ts',
    from: 'if (await this.#isUndecided(work)) {',
    to: 'if (false) {',
    suite: votes('ends the call'),
    sentence: /AssertionError|timed out/,
  },
  {
    promise: 'votes of an older version are handed to the sub-agent',
    file: 'tools/agent-delegation.ts',
    from: 'if (votes.length === 0) return record;',
    to: 'if (votes.length < 99) return record;',
    suite: votes('hands the votes'),
    sentence: /AssertionError/,
  },
  {
    promise: 'a request of a sub-agent has the deadline of its call',
    file: 'tools/mirror-requests.ts',
    from: 'Math.min(request.expiresAt ?? Infinity, expiresAt ?? Infinity)',
    to: 'request.expiresAt ?? Infinity',
    suite: ['tools/call-deadlines', 'ten seconds'],
    sentence: /AssertionError/,
  },
  {
    promise: 'what is asked during a call ends with the call',
    file: 'thread/thread-state.ts',
    from: '|| (call !== undefined && isExpired(call, now))',
    to: '',
    suite: ['tools/call-deadlines', 'ends with the call'],
    sentence: /AssertionError/,
  },
];

function votes(name: string): readonly [string, string] {
  return ['tools/mirrored-votes', name];
}
