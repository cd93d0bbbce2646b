import type { ThreadEvent } from 'holdpoint';
import { type CallHistory, callHistories } from './call-histories.ts';
import type { Evidence } from './evidence.ts';

/**
 * What is wrong with what tools were told: each time it must be what a person answered, by the log as it stood then, to the newest
 * question of that very call; and what the log says was told must have been.
 */
export function toldFaults(
  { told = [], events }: Evidence,
  calls: readonly CallHistory[],
): string[] {
  const wrong = told
    .filter(({ toolCallId, optionId, revision }) => {
      const answer = answerIn(events.slice(0, revision), toolCallId);
      return answer !== optionId;
    })
    .map(
      ({ toolCallId, optionId }) => `Call ${toolCallId} was told ${optionId} without an answer.`,
    );
  const lost = events.flatMap((event) => {
    if (event.type !== 'answer-delivered' || event.error !== undefined) return [];
    const toolCallId = callAsking(event.requestId, events, calls);
    return told.some((each) => each.toolCallId === toolCallId)
      ? []
      : [`Call ${toolCallId} has an answer by the log, and was told nothing.`];
  });
  return [...wrong, ...lost];
}

/** The answer to what a call asked last, by a log. */
function answerIn(events: readonly ThreadEvent[], toolCallId: string): string | undefined {
  const calls = callHistories(events);
  const asked = events.findLast(
    (event) =>
      event.type === 'request-opened' &&
      callAsking(event.request.requestId, events, calls) === toolCallId,
  );
  const answered = events.find(
    (event) =>
      event.type === 'request-answered' &&
      asked?.type === 'request-opened' &&
      event.response.requestId === asked.request.requestId,
  );
  if (answered?.type !== 'request-answered') return undefined;
  const { response } = answered;
  const isPick = response.type === 'question-response' && response.status === 'answered';
  return isPick ? response.answers[0]?.optionIds[0] : undefined;
}

/** The call beside which a request was opened. */
function callAsking(
  requestId: string,
  events: readonly ThreadEvent[],
  calls: readonly CallHistory[],
): string | undefined {
  const opened = events.find(
    (event) => event.type === 'request-opened' && event.request.requestId === requestId,
  );
  if (opened?.type !== 'request-opened' || opened.beside === undefined) return undefined;
  const { step, index } = opened.beside;
  return calls.find(({ label }) => label.endsWith(` (${step}.${index})`))?.toolCallId;
}
