import type { ToolSet } from 'ai';
import {
  type Agent,
  callsApart,
  type CallsApartOptions,
  changingTools,
  findNamedTools,
} from '../../agent.ts';
import { createCustomAgent } from '../../agent/custom.ts';
import { quoteInertLine } from '../../content/inert-text.ts';
import { readCallMessage } from './call-record.ts';
import type { GateContext } from './gate-context.ts';
import type { GateOptions } from './gate-options.ts';

/* Short enough to notice a killed gate while its client waits: common clients give up after 60 seconds. */
export const defaultLeaseMs = 15_000;

const whyNotCalls =
  "It reads calls, which has no other call here: each call through a gate is a thread of its own. Sum over the store, as in 'A budget' of docs/guides/gate.md.";

/** Makes the agent whose threads are calls: its first step makes the call of the thread, and its second one ends. */
export function makeGateAgent(options: GateOptions, readTools: () => ToolSet): Agent {
  const { store, toolApproval, mayAnswer, principalId, onUnrecorded, now, generateId } = options;
  const { name = 'gate', leaseMs = defaultLeaseMs } = options;
  const marked: CallsApartOptions = { [callsApart]: whyNotCalls };
  return createCustomAgent({
    ...marked,
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
 * Makes a function that reports rules for tools that no upstream has, once each: they hold no call. It reports nothing while an upstream
 * has never listed its tools.
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
