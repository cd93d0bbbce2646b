import { isDeepStrictEqual } from 'node:util';
import type { ThreadEvent, UserApproval } from 'holdpoint';
import type { Asked } from './asking-model.ts';
import { callAsked } from './call-asked.ts';
import {
  demands,
  isEntitled,
  type Payment,
  type Person,
  roleOf,
  runsUnasked,
  toolNames,
  whoIs,
} from './shared-people.ts';

/** What a person really clicked, and the bytes that they saw above it, or made of them. */
export interface Click {
  person: Person;
  requestId: string;
  approved: boolean;
  input: unknown;
  remember: boolean;
  /** Whether they took it back later. */
  isWithdrawn?: boolean;
}

/** What a tool did. */
export interface Effect {
  toolCallId: string;
  input: unknown;
}

/** What a rule was told of a call. */
export interface Judgement {
  toolCallId: string;
  role: unknown;
  requesters: readonly (Person | undefined)[];
}

interface Evidence {
  judgements: readonly Judgement[];
  events: readonly ThreadEvent[];
  clicks: readonly Click[];
  said: readonly Person[];
  effects: readonly Effect[];
  asked: ReadonlyMap<string, Asked>;
}

/** What too few entitled people approved as it ran, and recorded answers of people who did not give them. */
export function auditPeople(evidence: Evidence): string[] {
  const { events, clicks, effects } = evidence;
  const faults = events.flatMap((event) => {
    if (event.type !== 'request-voted' && event.type !== 'request-answered') return [];
    const { response, principal } = event;
    if (response.type !== 'approval-response') return [];
    const { requestId, approved } = response;
    const person = whoIs(principal);
    const isClicked = clicks.some(
      (click) =>
        click.requestId === requestId && click.person === person && click.approved === approved,
    );
    const answer = approved ? 'yes' : 'no';
    return isClicked
      ? []
      : [`The ${answer} of ${person} to ${requestId} is recorded: they gave none.`];
  });
  const ids = effects.map(({ toolCallId }) => toolCallId);
  const twice = ids.filter((id, nth) => ids.indexOf(id) !== nth);
  return [
    ...faults,
    ...twice.map((id) => `${id} ran twice.`),
    ...effects.flatMap((effect) => effectFaults(evidence, effect)),
    ...evidence.judgements.flatMap((judgement) => judgementFaults(evidence, judgement)),
  ];
}

/* A rule decides as if those who asked were alone. */
function judgementFaults(
  evidence: Evidence,
  { toolCallId, role, requesters }: Judgement,
): string[] {
  const real = requestersOf(evidence, toolCallId);
  const isOfAll = role === undefined || real.every((each) => roleOf(each) === role);
  const isRight = isDeepStrictEqual(new Set(requesters), new Set(real));
  const whose = `${real.join(' and ')} asked for ${toolCallId}`;
  return [
    ...(isOfAll ? [] : [`${whose}, and its rule got the role ${JSON.stringify(role)}.`]),
    ...(isRight ? [] : [`${whose}, and its rule was told: ${requesters.join(' and ')}.`]),
  ];
}

function effectFaults(evidence: Evidence, { toolCallId, input }: Effect): string[] {
  const asked = evidence.asked.get(toolCallId);
  const toolName = toolNames.find((name) => name === asked?.toolName);
  if (toolName === undefined) return [`${toolCallId} ran, and the model had not asked for it.`];
  const demand: UserApproval<Payment> = demands[toolName];
  const requesters = requestersOf(evidence, toolCallId);
  if (runsUnasked(toolName, requesters)) return [];
  const approvers = new Set(
    evidence.clicks
      .filter(({ approved, isWithdrawn }) => approved && isWithdrawn !== true)
      .filter(({ requestId }) => isAbout(evidence, requestId, toolCallId))
      .filter((click) => isSameJson(click.input, input))
      .map(({ person }) => person)
      .filter((person) => isEntitled(person, input))
      .filter((person) => demand.notRequester !== true || !requesters.includes(person)),
  );
  if (approvers.size >= (demand.quorum ?? 1)) return [];
  if (toolName === 'post' && isRemembered(evidence, requesters)) return [];
  const by = [...approvers].join(' and ') || 'nobody';
  return [`${toolName} ran with ${JSON.stringify(input)} and was approved by ${by}.`];
}

/** Everybody whose unanswered message led to a call. */
function requestersOf({ asked, said }: Evidence, toolCallId: string): Person[] {
  const messages = asked.get(toolCallId)?.messages ?? [];
  return [...new Set(messages.flatMap((id) => said[id] ?? []))];
}

function isAbout({ events }: Evidence, requestId: string, toolCallId: string): boolean {
  return callOf(events, requestId) === toolCallId;
}

function callOf(events: readonly ThreadEvent[], requestId: string): string | undefined {
  return callAsked(events, requestId)?.toolCallId;
}

/** Whether an entitled person has said yes for all calls of the one person who asked for this one. */
function isRemembered(evidence: Evidence, requesters: readonly Person[]): boolean {
  const [requester, ...others] = requesters;
  if (requester === undefined || others.length > 0) return false;
  return evidence.clicks.some(({ requestId, approved, remember, person, input }) => {
    const earlier = callOf(evidence.events, requestId);
    if (earlier === undefined || !approved || !remember || !isEntitled(person, input)) return false;
    return isDeepStrictEqual(requestersOf(evidence, earlier), [requester]);
  });
}

function isSameJson(one: unknown, other: unknown): boolean {
  return isDeepStrictEqual(JSON.parse(JSON.stringify(one)), JSON.parse(JSON.stringify(other)));
}
