import type { ThreadEvent } from 'holdpoint';
import { callAsked } from './call-asked.ts';
import { isEntitled, whoIs } from './shared-people.ts';

/** Requests that somebody ended who may not answer them. */
export function auditEndings(events: readonly ThreadEvent[]): string[] {
  return events.flatMap((event, index) => {
    if (event.type !== 'request-closed' || event.cause !== 'cancelled') return [];
    const earlier = events.slice(0, index);
    /* An approval that is not used is no open request. */
    if (earlier.some((each) => isAnswer(each, event.requestId))) return [];
    const person = whoIs(event.principal);
    const inputs = inputsOf(earlier, event.requestId);
    if (person !== undefined && inputs.some((input) => isEntitled(person, input))) return [];
    return [`${person ?? 'Nobody'} ended request ${event.requestId}: they may not answer it.`];
  });
}

function isAnswer(event: ThreadEvent, requestId: string): boolean {
  return event.type === 'request-answered' && event.response.requestId === requestId;
}

/** The input of a request's call, as the model made it and as people have edited it. */
function inputsOf(events: readonly ThreadEvent[], requestId: string): unknown[] {
  const edited = events.flatMap((event) =>
    event.type === 'request-voted' && event.response.requestId === requestId
      ? [event.edit?.input]
      : [],
  );
  return [callAsked(events, requestId)?.input, ...edited];
}
