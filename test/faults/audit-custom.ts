import type { ThreadEvent } from 'holdpoint';
import { plannedProgressSchema } from './planned-steps.ts';

/** What is wrong with the steps of a custom agent: plans that were asked about twice, and approvals that were used and did not count. */
export function customFaults(events: readonly ThreadEvent[]): string[] {
  return [...repeatedRequests(events), ...uncoveredSteps(events)];
}

/** One message is one plan, which people are asked about once. A step that nobody recorded has asked nothing. */
function repeatedRequests(events: readonly ThreadEvent[]): string[] {
  const faults: string[] = [];
  let asked = 0;
  for (const event of events) {
    if (event.type === 'message-added' && event.place === undefined) asked = 0;
    if (event.type !== 'request-opened' || event.step === undefined) continue;
    asked += 1;
    if (asked > 1) faults.push(`Step ${event.step} asked what a step before it had asked.`);
  }
  return faults;
}

/** A step that goes on because of an approval: it was given before, to the step before, had not expired, was not taken back, and no stop holds it. */
function uncoveredSteps(events: readonly ThreadEvent[]): string[] {
  return events.flatMap((event, index) => {
    if (event.type !== 'step-finished') return [];
    const { requestId } = plannedProgressSchema.safeParse(event.progress).data ?? {};
    if (requestId === undefined) return [];
    const before = events.slice(0, index);
    const isAnswered = before.some(
      (each) =>
        each.type === 'request-answered' &&
        each.response.type === 'approval-response' &&
        each.response.requestId === requestId &&
        each.response.approved,
    );
    const isClosed = before.some(
      (each) => each.type === 'request-closed' && each.requestId === requestId,
    );
    const opened = before.find(
      (each) => each.type === 'request-opened' && each.request.requestId === requestId,
    );
    const isOwn = opened?.type === 'request-opened' && opened.step === event.step - 1;
    const answeredAt = before.findIndex(
      (each) => each.type === 'request-answered' && each.response.requestId === requestId,
    );
    const since = before.slice(answeredAt);
    const stoppedAt = since.findLastIndex(
      (each) => each.type === 'run-ended' && each.stopped === true,
    );
    const isReleased = since
      .slice(stoppedAt)
      .some((each) => each.type === 'approvals-released' && each.requestIds.includes(requestId));
    const isStopped = stoppedAt !== -1 && !isReleased;
    return isAnswered && !isClosed && !isStopped && isOwn
      ? []
      : [`Step ${event.step} used an approval that does not count.`];
  });
}
