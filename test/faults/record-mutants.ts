import type { SourceMutant } from './source-mutants.ts';

const failed = /AssertionError/;

/** What holds of the record: what happened, who did it, and what a trail says of it. */
export const recordMutants: readonly SourceMutant[] = [
  {
    promise: 'a call that an MCP server refused has failed',
    file: 'agent/calls/execute-call.ts',
    from: "if (error === undefined) return { status: 'succeeded', ...returned };",
    to: "if (error !== null) return { status: 'succeeded', ...returned };",
    suite: ['agent/mcp-failures', 'in the thread and in its trail'],
    sentence: failed,
  },
  {
    promise: 'the span of a call that an MCP server refused has failed',
    file: 'agent/calls/execute-call.ts',
    from: 'if (refusal === undefined) return output;',
    to: 'if (refusal !== null) return output;',
    suite: ['telemetry/guarded-call', 'is a span that failed'],
    sentence: failed,
  },
  {
    promise: 'what a tool of no MCP client returns is its own affair',
    file: 'content/mcp-tool.ts',
    from: 'isMcp ? failureSchema',
    to: 'isMcp || true ? failureSchema',
    suite: ['agent/mcp-failures', 'means by isError what it likes'],
    sentence: failed,
  },
];
