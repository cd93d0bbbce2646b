import type { Agent } from '../agent/agent.ts';
import type { ChildThread } from '../agent/child-agent.ts';

const reportedTypes = [
  'request-opened',
  'request-voted',
  'vote-withdrawn',
  'request-reassigned',
  'request-answered',
  'request-closed',
] as const;
/* How often the requests are checked that another process has opened, in milliseconds: the run of the agent reads them. */
const checkMs = 1_000;

/** Reports an agent's open requests, whenever they change, to the thread of the call on which it works, until the work ends. */
export async function reportDuring<RESULT>(
  agent: Agent<never>,
  child: ChildThread,
  report: () => Promise<void>,
  work: () => Promise<RESULT>,
): Promise<RESULT> {
  const { thread } = child;
  let isOver = false;
  let last = '[]';
  const check = async (): Promise<void> => {
    const requests = JSON.stringify(thread.activeRequests);
    if (isOver || requests === last) return;
    last = requests;
    await report();
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
