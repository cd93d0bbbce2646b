import { whyNobody } from '../policy/principal-id.ts';
import type { AgentContext } from './run/agent-context.ts';
import type { SignIn } from './sign-in.ts';

/** Whether a principal names somebody. If not, `authorize` has a mistake, such as `isMember && user.email`, and is reported. */
export function judgePrincipal(
  { principalId, report }: Pick<AgentContext, 'principalId' | 'report'>,
  { principal, threadId }: SignIn,
): boolean {
  const fault = whyNobody(principal, principalId);
  if (fault === undefined) return true;
  const problem = `The principal that it returned names nobody: ${fault}. The request was refused.`;
  report({ setting: 'authorize', kind: 'invalid', problem, threadId });
  return false;
}
