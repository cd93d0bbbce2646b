import type { ToolSet } from 'ai';
import type { Agent } from '../../agent/agent.ts';
import { changingTools } from '../../agent/changing-tools.ts';
import { createCustomAgent } from '../../agent/custom.ts';
import { findNamedTools } from '../../agent/named-tools.ts';
import { quoteInertLine } from '../../content/inert-text.ts';
import { readCallMessage } from './call-record.ts';
import type { GateContext } from './gate-context.ts';
import type { GateOptions } from './gate-options.ts';

/* A killed gate is noticed while its client still waits: common clients give up after 60 seconds. */
export const defaultLeaseMs = 15_000;

/** The agent whose threads are calls: its first step makes the call that the thread was begun for, and its second one ends. */
export function makeGateAgent(options: GateOptions, readTools: () => ToolSet): Agent {
  const { store, toolApproval, mayAnswer, principalId, onUnrecorded, now, generateId } = options;
  const { name = 'gate', leaseMs = defaultLeaseMs } = options;
  return createCustomAgent({
    name,
    leaseMs,
    tools: changingTools(readTools),
    ...(store && { store }),
    ...(toolApproval && { toolApproval }),
    ...(mayAnswer && { mayAnswer }),
    ...(principalId && { principalId }),
    ...(onUnrecorded && { onUnrecorded }),
    ...(now && { now }),
    ...(generateId && { generateId }),
    step: ({ stepNumber, messages }) => {
      const call = stepNumber === 0 ? readCallMessage(messages[0]) : undefined;
      return call === undefined ? {} : { toolCalls: [{ toolName: call.tool, input: call.input }] };
    },
  });
}

/**
 * Makes a function that reports rules for tools that no upstream has, once each: they don't hold what they were written for. It reports nothing
 * while an upstream has never listed its tools.
 */
export function makeUnknownReport(
  { upstreams, report }: Pick<GateContext, 'upstreams' | 'report'>,
  toolApproval: unknown,
): () => void {
  const named = new Set(findNamedTools(toolApproval));
  return () => {
    if (upstreams.unlisted.length > 0) return;
    const tools = Object.keys(upstreams.tools);
    for (const each of named) {
      if (tools.some((tool) => each.fits(tool))) continue;
      named.delete(each);
      report({
        problem: `A rule names ${quoteInertLine(each.name)}, which fits no tool of this gate.`,
      });
    }
  };
}
