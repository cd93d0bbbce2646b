import { copyPlain } from '../../content/json-value.ts';
import type { SettingFailure } from '../../content/check-settings.ts';
import { traceFailure } from '../../thread/tracing.ts';
import type { AgentEmitter } from './agent-events.ts';

/**
 * Reports the faults of an agent's settings: to its listeners, to tracing, and, unless `NODE_ENV` is `production`, as a warning in the
 * console, once for each setting and kind of fault.
 */
export function makeFailureReporter(
  agentName: string | undefined,
  events: AgentEmitter,
): (failure: SettingFailure) => void {
  const warned = new Set<string>();
  return ({ toolCall, ...fault }) => {
    const call = toolCall && { ...toolCall, input: copyPlain(toolCall.input) };
    const failure = { ...fault, toolCall: call };
    events.emitFailure(failure);
    traceFailure(agentName, failure);
    const { setting, kind, problem, error } = failure;
    const key = `${kind} ${setting}`;
    if (warned.has(key) || globalThis.process?.env['NODE_ENV'] === 'production') return;
    warned.add(key);
    const agent = agentName === undefined ? '' : ` of agent '${agentName}'`;
    console.warn(`holdpoint: ${setting}${agent}: ${problem}`, ...[error].filter(Boolean));
  };
}
