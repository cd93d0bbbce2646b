import { whyNobody } from '../policy/principal-id.ts';
import type { AgentContext } from './run/agent-context.ts';

/** What the app's `authorize` says of a request for a thread. */
export interface SignIn {
  principal: unknown;
  threadId: string;
}

/** The key of the method that judges principals. A registered symbol, so that it works across two copies of the package. */
export const judgeSignIn: unique symbol = Symbol.for('holdpoint.judge-sign-in');

/** An agent that knows who is who. */
interface JudgingAgent {
  [judgeSignIn](signIn: SignIn): boolean;
}

/** Whether somebody is signed in: nobody is, if the principal is `undefined` or `null`, or names nobody, which the agent reports to the developer. */
export function isSignedIn(agent: object, signIn: SignIn): boolean {
  const { principal } = signIn;
  if (principal === undefined || principal === null) return false;
  return isJudging(agent)
    ? agent[judgeSignIn](signIn)
    : whyNobody(principal, undefined) === undefined;
}

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

function isJudging(agent: object): agent is JudgingAgent {
  return judgeSignIn in agent;
}
