import type { CustomStep, CustomStepInput } from 'holdpoint/custom-agent';
import { z } from 'zod';
import type { PlannedCall } from './stateless-model.ts';

/** What a planned step saves: what it waits for, and, once it was approved, the request that approved it. */
export const plannedProgressSchema = z.object({
  stage: z.enum(['asked', 'approved']),
  requestId: z.string().optional(),
});
type PlannedProgress = z.infer<typeof plannedProgressSchema>;

/** The tools that need nobody; the others wait until the plan is approved. */
const safe: ReadonlySet<string> = new Set(['look']);

/**
 * A custom agent's function whose result depends on its input alone, so that a step repeated after a crash is the same. It makes the nth
 * calls for the nth message: first it makes the safe ones and asks whether the plan is right, then it makes the others, then it is done.
 */
export function plannedStep(
  plan: readonly (readonly PlannedCall[])[],
  { expiresAfterMs }: { expiresAfterMs?: number } = {},
): (input: CustomStepInput<PlannedProgress>) => CustomStep<PlannedProgress> {
  return ({ messages, input, progress, decisions }) => {
    const turn = messages.filter(({ role }) => role === 'user').length;
    const calls = (plan[turn - 1] ?? []).map(([toolName, city]) => ({
      toolName,
      input: { city },
    }));
    if (input.length > 0 || progress === undefined) {
      const text = `Is the plan of turn ${turn} right?`;
      return {
        progress: { stage: 'asked' },
        toolCalls: calls.filter(({ toolName }) => safe.has(toolName)),
        requests: {
          plan: {
            type: 'approval-request',
            text,
            ...(expiresAfterMs === undefined ? {} : { expiresAfterMs }),
          },
        },
      };
    }
    const decision = decisions.get('plan');
    if (progress.stage === 'asked' && decision?.status === 'approved') {
      const { requestId } = decision.request;
      return {
        progress: { stage: 'approved', requestId },
        toolCalls: calls.filter(({ toolName }) => !safe.has(toolName)),
        continues: true,
      };
    }
    return { text: 'Done.' };
  };
}
