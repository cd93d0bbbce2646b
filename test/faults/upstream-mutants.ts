import type { SourceMutant } from './source-mutants.ts';

const sentence = /AssertionError|Timed out|timed out|did not succeed/;
const asking = 'mcp/asking-calls';
const questions = 'mcp/questions';

/** What holds of the servers of a gate, and of what people are asked in their name. */
export const upstreamMutants: readonly SourceMutant[] = [
  {
    promise: 'a server of a gate that asks gets one call at a time',
    file: 'channels/mcp/upstream-questions.ts',
    from: 'while (this.#hasAsked && this.#running.size > 0)',
    to: 'while (this.#hasAsked && this.#running.size > 100)',
    suite: [asking, 'from its first question on'],
    sentence,
  },
  {
    promise: 'a question of a server of a gate is shown beside the call that asks',
    file: 'channels/mcp/upstream-questions.ts',
    from: 'while (this.#running.size > 1 && !until.aborted)',
    to: 'while (this.#running.size > 100 && !until.aborted)',
    suite: [asking, 'is asked when one of them is left'],
    sentence,
  },
  {
    promise: 'a question that may be of several calls is refused',
    file: 'channels/mcp/upstream-questions.ts',
    from: 'if (others.length > 0) {',
    to: 'if (others.length > 100) {',
    suite: [asking, 'ask at once for the first time'],
    sentence,
  },
  {
    promise: 'a question that may be of a call that was given up is refused',
    file: 'channels/mcp/upstream-questions.ts',
    from: 'this.#wasGivenUp ||= mayAsk;',
    to: 'this.#wasGivenUp ||= false;',
    suite: [asking, 'after a call was given up'],
    sentence,
  },
  {
    promise: 'a server of a gate asks no more at once than people can answer',
    file: 'channels/mcp/upstream-questions.ts',
    from: 'if (entries.length > mostAtOnce) {',
    to: 'if (entries.length < 0) {',
    suite: [questions, 'asks too much at once'],
    sentence,
  },
  {
    promise: 'a server of a gate does not ask without end',
    file: 'channels/mcp/upstreams.ts',
    from: 'if (questions > mostQuestions) {',
    to: 'if (questions < 0) {',
    suite: [questions, 'asks without end'],
    sentence,
  },
  {
    promise: 'a gate that closes waits for no person',
    file: 'channels/mcp/upstreams.ts',
    from: 'const until = AbortSignal.any([signal, closing]);',
    to: 'const until = AbortSignal.any([signal]);',
    suite: [asking, 'a gate that closes asks no longer'],
    sentence,
  },
  {
    promise: 'a call that asks people is not taken for a silent one',
    file: 'channels/mcp/silence-timer.ts',
    from: 'if (this.#pauses === 0)',
    to: 'if (this.#pauses >= 0)',
    suite: [asking, 'a person may take longer'],
    sentence: /AssertionError|HoldpointError/,
  },
  {
    promise: 'a call of a gate that can not be sent is told so in time',
    file: 'channels/mcp/upstream-connection.ts',
    from: '.then(() => late.abort());',
    to: '.then(() => {});',
    suite: [asking, 'waits for its turn'],
    sentence,
  },
  {
    promise: 'the question of a call that was lost with its process is closed',
    file: 'agent/run/lost-calls.ts',
    from: '?.outlivesProcess) !== false;',
    to: '?.outlivesProcess) !== undefined;',
    suite: [asking, 'has stalled while it asked'],
    sentence,
  },
  {
    promise: 'the question of a call that ended without an outcome is closed',
    file: 'agent/run/lost-calls.ts',
    from: '(outlivesProcess(context, call) ? [] : makeCloseDuringEvents',
    to: '(at >= 0 ? [] : makeCloseDuringEvents',
    suite: [asking, 'that dies while it asks'],
    sentence,
  },
  {
    promise: 'the name of a client passes for no text of ours',
    file: 'channels/mcp/call-record.ts',
    from: 'return plainName.test(client) ? client',
    to: "return client !== '' ? client",
    suite: ['mcp/asked-texts', 'passes for no text of ours'],
    sentence,
  },
];
