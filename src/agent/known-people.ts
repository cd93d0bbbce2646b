import { identifyStrictly, whyNobody } from '../policy/principal-id.ts';
import type { AgentContext } from './run/agent-context.ts';
import type { KnownPeople } from './sign-in.ts';

/** What an agent knows of people. */
export function describePeople({
  principalId,
  report,
}: Pick<AgentContext, 'principalId' | 'report'>): KnownPeople {
  return {
    isSomebody: ({ principal, threadId }) => {
      const fault = whyNobody(principal, principalId);
      if (fault === undefined) return true;
      const problem = `The principal that it returned names nobody: ${fault}. The request was refused.`;
      report({ setting: 'authorize', kind: 'invalid', problem, threadId });
      return false;
    },
    identify: (principal) => identifyStrictly(principal, principalId),
  };
}
