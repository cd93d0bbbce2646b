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
  {
    promise: 'a trail is made of a verified log alone',
    file: 'audit/index.ts',
    from: 'await thread.verify();',
    to: '',
    suite: ['audit/audit-trail', 'edited behind a snapshot'],
    sentence: failed,
  },
  {
    promise: 'a trail is made of what was verified',
    file: 'audit/index.ts',
    from: 'const hash = await verifyEntries(entries);',
    to: "const hash = entries.at(-1) === undefined ? await verifyEntries(entries) : '';",
    suite: ['audit/audit-trail', 'edited behind a snapshot'],
    sentence: failed,
  },
  {
    promise: 'an id stands beside a name',
    file: 'content/requester-text.ts',
    from: 'return id === undefined || id === name ?',
    to: 'return id !== null ?',
    suite: ['audit/audit-trail', 'imitates nobody'],
    sentence: failed,
  },
  {
    promise: 'a name can not look like an id',
    file: 'content/requester-text.ts',
    from: "name.normalize('NFKC')) ?",
    to: "'') ?",
    suite: ['audit/audit-trail', 'imitates nobody'],
    sentence: failed,
  },
  {
    promise: 'a look-alike of a formula is one',
    file: 'audit/csv.ts',
    from: "formulaStart.test(text.normalize('NFKC'))",
    to: 'formulaStart.test(text)',
    suite: ['audit/audit-trail', 'no cell is a formula'],
    sentence: failed,
  },
  {
    promise: 'every cell is quoted',
    file: 'audit/csv.ts',
    from: 'return `"${safe.replaceAll(\'"\', \'""\')}"`;',
    to: 'return /[",\\r\\n]/.test(safe) ? `"${safe.replaceAll(\'"\', \'""\')}"` : safe;',
    suite: ['audit/audit-trail', 'no cell is a formula'],
    sentence: failed,
  },
];
