import { HoldpointError } from '../errors.ts';
import type { SharedAgentOptions } from './agent-options.ts';
import type { Agent } from './agent.ts';
import { makeAgent } from './create-agent.ts';

/** Makes an agent without a model, for a process that records answers and outcomes, and runs nothing. */
export function makeAnsweringAgent(
  options: Omit<SharedAgentOptions, 'toolApproval'> & { toolApproval?: unknown },
): Agent<unknown> {
  return makeAgent(options, () => ({
    modelName: undefined,
    makeStep: refuseToRun,
    hasModel: false,
    allowSystemInMessages: false,
  }));
}

function refuseToRun(): never {
  throw new HoldpointError('not-allowed', 'This process records answers, and can run no thread.');
}
