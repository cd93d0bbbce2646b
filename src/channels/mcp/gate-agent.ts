import type { ToolSet } from 'ai';
import type { Agent } from '../../agent/agent.ts';
import { changingTools } from '../../agent/changing-tools.ts';
import { createCustomAgent } from '../../agent/custom.ts';
import { isObject } from '../../content/json-value.ts';
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

/** Reports rules for tools that no upstream has: they don't hold what they were written for. */
export function reportUnknownRules(
  { upstreams: { tools }, report }: Pick<GateContext, 'upstreams' | 'report'>,
  toolApproval: unknown,
): void {
  if (!isObject(toolApproval) || typeof toolApproval === 'function') return;
  for (const name of Object.keys(toolApproval)) {
    if (Object.hasOwn(tools, name)) continue;
    report({ problem: `toolApproval names '${name}', which is not a tool of this gate.` });
  }
}
