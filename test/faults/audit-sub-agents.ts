import type { ThreadEvent } from 'holdpoint';
import type { Payment, SubAgentScenario } from './paying-staff.ts';
import type { ThreadEventOf } from '../../src/thread/thread-event.ts';

/** What was paid, and what may be paid. */
interface Books {
  scenario: SubAgentScenario;
  payments: readonly Payment[];
}

/** What is wrong with the threads of agents that worked for each other, in sentences. The outermost thread comes first. */
export function subAgentFaults(
  books: Books,
  threads: ReadonlyMap<string, ThreadEvent[]>,
): string[] {
  const logs = [...threads];
  const [[, outermost] = ['', []]] = logs;
  return [
    ...paymentFaults(books, outermost),
    ...logs.flatMap(([id, events]) => [...startFaults(id, events), ...stopFaults(id, events)]),
    ...answersOf(outermost).flatMap((answer) => answerFaults(answer, logs)),
  ];
}

function paymentFaults({ payments, scenario }: Books, events: ThreadEvent[]): string[] {
  const approved = requestsOf(events).filter(({ requestId }) => isApproved(events, requestId));
  return payments.flatMap(({ city }, index) => {
    const isTwice = payments.findIndex((paid) => paid.city === city) !== index;
    /* Of a call of its own, the log has the input in the model's message alone. */
    const isAllowed = approved.some(
      ({ path, toolCall }) =>
        path === undefined || JSON.stringify(toolCall?.input) === JSON.stringify({ city }),
    );
    return [
      ...(isTwice ? [`${city} was paid twice.`] : []),
      ...(isAllowed ? [] : [`${city} was paid, and nobody approved that at the top.`]),
      ...(scenario.approves(city) ? [] : [`${city} was paid after a rejection.`]),
    ];
  });
}

/** A payment starts once for each approval of it in its own thread. */
function startFaults(id: string, events: ThreadEvent[]): string[] {
  const asked = events.flatMap((event) =>
    event.type === 'request-opened' && event.place !== undefined ? [event] : [],
  );
  const places = new Map(asked.map(({ place }) => [JSON.stringify(place), place]));
  return [...places.values()].flatMap((place) => {
    const starts = events.filter(
      (event) =>
        event.type === 'call-started' && event.step === place?.step && event.index === place.index,
    );
    const approvals = asked.filter(
      ({ place: { step, index } = {}, request }) =>
        step === place?.step && index === place?.index && isApproved(events, request.requestId),
    );
    return starts.length > approvals.length
      ? [
          `A call of thread ${id} started ${starts.length} times, with ${approvals.length} approvals.`,
        ]
      : [];
  });
}

/** What was approved before a stop starts once the boss has released it, and is not undone. */
function stopFaults(id: string, events: ThreadEvent[]): string[] {
  return events.flatMap((event, index) => {
    if (event.type === 'approvals-released' && event.principal !== 'boss')
      return [`In thread ${id} ${String(event.principal)} has released an approval.`];
    if (event.type !== 'call-started' && event.type !== 'call-ended') return [];
    const before = events.slice(0, index);
    const asked = before.filter((each) => each.type === 'request-opened');
    const { requestId } =
      asked.findLast(({ place }) => place?.step === event.step && place.index === event.index)
        ?.request ?? {};
    if (requestId === undefined || !isApproved(before, requestId)) return [];
    if (event.type === 'call-ended')
      return event.outcome.status === 'denied' ? [`What was approved in ${id} was undone.`] : [];
    const last = before.findLast(
      (each) =>
        (each.type === 'run-ended' && each.stopped === true) ||
        (each.type === 'approvals-released' && each.requestIds.includes(requestId)) ||
        (each.type === 'request-answered' && each.response.requestId === requestId),
    );
    return last?.type === 'run-ended' ? [`A call of ${id} that a stop holds has started.`] : [];
  });
}

function isApproved(events: readonly ThreadEvent[], requestId: string): boolean {
  return answersOf(events).some(
    ({ response }) =>
      response.requestId === requestId &&
      response.type === 'approval-response' &&
      response.approved,
  );
}

/** An answer at the top is the answer of one thread below, to the same request, and of no other. */
function answerFaults(
  { response }: ThreadEventOf<'request-answered'>,
  logs: readonly (readonly [string, ThreadEvent[]])[],
): string[] {
  const { requestId } = response;
  const asking = logs.filter(([, events]) =>
    events.some(
      (event) =>
        event.type === 'request-opened' &&
        event.request.requestId === requestId &&
        event.request.path === undefined,
    ),
  );
  const [own] = asking;
  if (own === undefined || asking.length > 1)
    return [`Request ${requestId} is of ${asking.length} threads.`];
  const answers = answersOf(own[1]).filter((answer) => answer.response.requestId === requestId);
  const isSame = answers.some(
    (answer) =>
      answer.response.type === 'approval-response' &&
      response.type === 'approval-response' &&
      answer.response.approved === response.approved,
  );
  return answers.length === 1 && isSame
    ? []
    : [`The answer to ${requestId} has reached its agent ${answers.length} times.`];
}

function requestsOf(events: readonly ThreadEvent[]) {
  return events.flatMap((event) => (event.type === 'request-opened' ? [event.request] : []));
}

function answersOf(events: readonly ThreadEvent[]): ThreadEventOf<'request-answered'>[] {
  return events.filter((event) => event.type === 'request-answered');
}
