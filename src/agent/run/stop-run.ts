import { waitForTimer } from '../../content/waiting.ts';
import { describeClosedBy } from '../../policy/same-person.ts';
import type { ThreadEvent } from '../../thread/thread-event.ts';
import type { ThreadLog } from '../../thread/thread-log.ts';
import { needsRun } from '../../thread/thread-status.ts';
import { isRunning, isUnfinished } from '../../thread/thread-head.ts';
import type { ThreadState } from '../../thread/thread-state.ts';
import { listUnusedApprovals } from '../calls/close-requests.ts';
import type { AnswerOptions } from '../input/run-input.ts';
import type { AgentContext } from './agent-context.ts';
import { makeAbandonedEvents, stopEvents } from './lost-calls.ts';

/* How often to check whether a run in another process has ended, in milliseconds. */
const pollMs = 250;
/* How much longer than its tools a run may take to end, in milliseconds: another process has to notice, and to append. */
const marginMs = 5_000;

/** The events that stop the current run; without one, those that end a turn which is due. */
export function stopRequest(
  context: AgentContext,
  state: Readonly<ThreadState>,
  by: AnswerOptions,
): ThreadEvent[] {
  const { head } = state;
  const at = context.now();
  if (isRunning(head, at) && head.run !== undefined) {
    const { runId, isStopping = false } = head.run;
    return isStopping ? [] : [{ type: 'stop-requested', at, runId, ...by }];
  }
  const isDue =
    needsRun(head) || head.calls.some(isUnfinished) || listUnusedApprovals(head).length > 0;
  const ending =
    isDue && !head.isStopped
      ? stopEvents(context, state, at, describeClosedBy(by, context.principalId))
      : [];
  return [...makeAbandonedEvents(context, state), ...ending];
}

/** Resolves when no run holds the thread, or after waiting long enough for one that does not react. */
export async function waitUntilEnded({ now, events, abortGraceMs }: AgentContext, log: ThreadLog) {
  const { threadId } = log.state;
  const patience = abortGraceMs + marginMs;
  for (let waited = 0; isRunning(log.state.head, now()) && waited < patience; waited += pollMs) {
    const news = new AbortController();
    const stopListening = events.on('run-ended', (event) => {
      if (event.threadId === threadId) news.abort();
    });
    await log.pull();
    if (isRunning(log.state.head, now())) await waitForTimer(pollMs, news.signal);
    stopListening();
  }
}
