import type { SourceMutant } from './source-mutants.ts';

const failed = /AssertionError/;

/** What holds of the question who may answer, and of the requests that are listed for a person. */
export const rightsMutants: readonly SourceMutant[] = [
  {
    promise: 'a person who has approved a request is told so',
    file: 'agent/input/request-rights.ts',
    from: 'return countAnswer(context, standing, { response, voter, by }).isRepeated;',
    to: 'return false && standing;',
    suite: ['policy/request-rights', 'already-voted'],
    sentence: failed,
  },
  {
    promise: 'who asks what they may do is asked about, also by a mayAnswer that throws',
    file: 'agent/input/request-rights.ts',
    from: "report({ ...fault, threadId, setting: 'mayAnswer' });\n      return false;",
    to: "report({ ...fault, threadId, setting: 'mayAnswer' });\n      return true;",
    suite: ['policy/request-rights', 'hides no other'],
    sentence: failed,
  },
  {
    promise: "a sub-agent's request is not answerable in its own thread",
    file: 'agent/thread-rights.ts',
    from: 'if (head.parent !== undefined)',
    to: 'if (head.parent === null)',
    suite: ['policy/request-rights', 'it is answered above'],
    sentence: failed,
  },
  {
    promise: 'who may answer for a sub-agent is its own word, in a list too',
    file: 'agent/list-requests.ts',
    from: 'if (request.path !== undefined) return true;',
    to: '',
    suite: ['policy/request-rights', 'never says yes'],
    sentence: failed,
  },
  {
    promise: 'a row shows its own request alone',
    file: 'agent/list-requests.ts',
    from: 'data.requestId === requestId &&',
    to: '',
    suite: ['agent/agent-requests', 'of another request'],
    sentence: failed,
  },
  {
    promise: 'a list reads at most ten times what it shows',
    file: 'agent/list-requests.ts',
    from: 'const mostReads = 10;',
    to: 'const mostReads = 11;',
    suite: ['agent/agent-requests', 'reads at most ten times'],
    sentence: failed,
  },
  {
    promise: 'a list skips no request at the end of a page',
    file: 'agent/list-requests.ts',
    from: 'last = each.row;',
    to: 'last = listed.at(-1)?.row ?? each.row;',
    suite: ['agent/agent-requests', 'goes on where the last one ended'],
    sentence: failed,
  },
  {
    promise: 'a question waits for its tool, in a list too',
    file: 'agent/list-requests.ts',
    from: 'return toolCall !== undefined && !tools.has(toolCall.toolName);',
    to: 'return toolCall === null;',
    suite: ['policy/request-rights', 'waits for a process that has its tool'],
    sentence: failed,
  },
];
