import type { ThreadEvent, ThreadEventOf } from 'holdpoint';
import { type SubAgentWorld, threadsOf } from './sub-agent-world.ts';

/** What is wrong with the threads of agents that worked for each other, in sentences. */
export async function subAgentFaults(world: SubAgentWorld): Promise<string[]> {
  const threads = await threadsOf(world);
  const logs = [...threads];
  const outermost = threads.get('outermost') ?? [];
  return [
    ...paymentFaults(world, outermost),
    ...logs.flatMap(([id, events]) => startFaults(world, id, events)),
    ...answersOf(outermost).flatMap((answer) => answerFaults(answer, logs)),
  ];
}

function paymentFaults({ payments, scenario }: SubAgentWorld, events: ThreadEvent[]): string[] {
  const approved = requestsOf(events).filter(({ requestId }) =>
    answersOf(events).some(
      ({ response }) =>
        response.requestId === requestId &&
        response.type === 'approval-response' &&
        response.approved,
    ),
  );
  return payments.flatMap(({ city }, index) => {
    const isTwice = payments.findIndex((paid) => paid.city === city) !== index;
    const isApproved = approved.some(
      ({ toolCall }) => JSON.stringify(toolCall?.input) === JSON.stringify({ city }),
    );
    return [
      ...(isTwice ? [`${city} was paid twice.`] : []),
      ...(isApproved ? [] : [`${city} was paid, and nobody approved that at the top.`]),
      ...(scenario.approves(city) ? [] : [`${city} was paid after a rejection.`]),
    ];
  });
}

/** A payment starts once, after its own request was approved in its own thread. */
function startFaults(world: SubAgentWorld, id: string, events: ThreadEvent[]): string[] {
  const asked = events.flatMap((event) =>
    event.type === 'request-opened' && event.place !== undefined ? [event] : [],
  );
  return asked.flatMap(({ place, request }) => {
    const starts = events.filter(
      (event) =>
        event.type === 'call-started' && event.step === place?.step && event.index === place.index,
    );
    const answered = answersOf(events).find(
      ({ response }) => response.requestId === request.requestId,
    );
    const isApproved =
      answered?.response.type === 'approval-response' && answered.response.approved;
    return [
      ...(starts.length > 1 ? [`A call of thread ${id} started ${starts.length} times.`] : []),
      ...(starts.length > 0 && !isApproved ? [`A call of thread ${id} started unapproved.`] : []),
    ];
  });
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
