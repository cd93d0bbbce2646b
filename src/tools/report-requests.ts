import type { Agent } from '../agent/agent.ts';
import type { ChildThread } from '../agent/child-agent.ts';
import type { UserInputRequest } from '../content/user-input.ts';

const reportedTypes = ['request-opened', 'request-answered', 'request-closed'] as const;
/* How often the requests are checked that another process has opened, in milliseconds: the run of the agent reads them. */
const checkMs = 1_000;

/** Reports an agent's open requests, whenever they change, to the thread of the call on which it works, until the work ends. */
export async function whileReporting<RESULT>(
  agent: Agent<never>,
  child: ChildThread,
  report: (requests: UserInputRequest[]) => Promise<void>,
  work: () => Promise<RESULT>,
): Promise<RESULT> {
  const { thread } = child;
  let isOver = false;
  let last = '';
  const check = async (): Promise<void> => {
    const ids = thread.activeRequests.map(({ requestId }) => requestId).join(' ');
    if (isOver || ids === last) return;
    last = ids;
    await report(thread.activeRequests.map((request) => ({ ...request })));
  };
  let checking = check();
  const checkNext = (read?: () => Promise<void>): void => {
    /* What can't be read now is reported at the next check, or with the result. */
    checking = checking.then(async () => read?.()).then(check, () => {});
  };
  const unsubscribe = reportedTypes.map((type) =>
    agent.on(type, ({ threadId }) => {
      if (threadId === thread.id) checkNext(async () => child.update());
    }),
  );
  const timer = setInterval(() => checkNext(), checkMs);
  try {
    return await work();
  } finally {
    isOver = true;
    clearInterval(timer);
    for (const end of unsubscribe) end();
  }
}
