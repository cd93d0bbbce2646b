import { idFieldOf } from '../policy/id-field.ts';

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
  if (isJudging(agent)) return agent[judgeSignIn](signIn);
  /* An app's own object around an agent can't say more. */
  return typeof principal === 'string'
    ? principal.trim() !== ''
    : idFieldOf(principal) !== undefined;
}

function isJudging(agent: object): agent is JudgingAgent {
  return judgeSignIn in agent;
}
