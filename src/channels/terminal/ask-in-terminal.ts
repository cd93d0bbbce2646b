import { renderSchemaError } from '../../json/field-fault.ts';
import type { ApprovalRequest } from '../../content/approval.ts';
import { describeDeadline, type TimeReader } from '../../content/deadline-words.ts';
import { groupRequests } from '../../view/group-requests.ts';
import { normalizeName } from '../../content/look-alikes.ts';
import {
  type UserInputRequest,
  type UserInputRequestContent,
  userInputRequestSchema,
  type UserInputResponseContent,
} from '../../content/user-input.ts';
import { whyNotQuestion } from '../../content/question.ts';
import { renderWaiting } from '../../content/request-text.ts';
import { HoldpointError } from '../../errors.ts';
import { askApproval } from './ask-approval.ts';
import { askGroup } from './ask-group.ts';
import { askQuestionInTerminal } from './ask-question.ts';
import { type Dialog, UnansweredError } from './dialog.ts';
import type { TerminalOptions } from './terminal-streams.ts';
import { withDialog } from './with-dialog.ts';

const leftOpen = '  ✗ Left open: nothing was answered';
const dismissed = '  ✗ Dismissed: no answer was given';

type Request = UserInputRequestContent | UserInputRequest;

/** Options of `askInTerminal`. */
export interface AskOptions extends TerminalOptions {
  /**
   * The effect of leaving a question (Ctrl+C, Ctrl+D, end of input): `dismiss` dismisses it if it allows that, `keep` leaves it open.
   * Default `dismiss`.
   */
  onLeave?: 'dismiss' | 'keep';
  /**
   * The person at the terminal, as the agent's `principalId` names them. A request that they have approved and that still waits for other
   * people is not asked again; a line says for how many it waits. Each request says that this person answers. By default everything is
   * asked.
   */
  person?: string;
  /** The time zone in which deadlines are shown, by its IANA name, as `Europe/Paris`. Default: that of the process. */
  timeZone?: string;
  /** The clock by which deadlines are shown as `in 2 h`: milliseconds since the epoch. Default `Date.now`. */
  now?: () => number;
  /**
   * True if lines may answer if the input is not a terminal: a pipe, a file, an empty input. By default nobody is asked then. Only the word
   * `approve` approves.
   */
  acceptLines?: boolean;
}

/**
 * Asks a person at the terminal, one request after another, and resolves to the answers, ready for `agent.run`. On a screen, Enter alone, a
 * digit or a line of text never approves; where lines answer, only the word `approve` does. A request that does not fit on the screen must
 * be paged through (`v`) before it can be approved. The answers of a form are shown for review before they are sent. Ctrl+Z suspends the
 * process. For half a second after a new request has appeared no key counts, and then no key that is still held; Ctrl+C and Ctrl+D leave it
 * open.
 *
 * Esc leaves an approval open and continues with the next request. Ctrl+C, Ctrl+D and the end of the input leave it open and stop asking.
 * They dismiss a question that allows it, unless `onLeave` is `keep`; after a dismissal by Ctrl+C the next request is asked. A request that
 * is left open has no answer in the result and can be asked again. Calls that use the same input wait for each other.
 *
 * When `signal` aborts, the promise rejects with its reason and the answers given so far are lost: ask one request at a time if they can be
 * answered elsewhere as well. Throws `invalid-input` for an invalid request, and `not-allowed` where the input is no terminal, unless
 * `acceptLines` is set.
 *
 * @example
 * while (response.userInputRequests.length > 0) {
 *   const answers = await askInTerminal(response.userInputRequests);
 *   if (answers.length === 0) break;
 *   response = await agent.run(answers, thread);
 * }
 */
export async function askInTerminal(
  requests: Request | readonly Request[],
  { onLeave = 'dismiss', person, acceptLines = false, timeZone, now, ...options }: AskOptions = {},
): Promise<UserInputResponseContent[]> {
  const given = parseRequests(Array.isArray(requests) ? requests : [requests]);
  const voted = given.filter((request) => hasVoted(request, person));
  const all = given.filter((request) => !voted.includes(request));
  const [first] = all;
  if (first !== undefined && !acceptLines) requireTerminal(first, options);
  if (given.length === 0) return [];
  const clock = { now: now ?? Date.now, timeZone };
  /* Throws for an unknown time zone before anything is asked. */
  describeDeadline(0, readClock(clock));
  return withDialog({ ...options, person }, async (dialog) => {
    await noteWaiting(voted, dialog);
    return askAll(onLeave === 'keep' ? all.map(forbidDismissal) : all, dialog, clock);
  });
}

/** The clock of the person who is asked. */
interface Clock {
  now: () => number;
  timeZone: string | undefined;
}

function readClock({ now, timeZone }: Clock): TimeReader {
  return { now: now(), timeZone };
}

/* A person who has approved must not take a request that waits for others for one that was lost. */
async function noteWaiting(voted: readonly UserInputRequest[], dialog: Dialog): Promise<void> {
  for (const request of voted) {
    if (request.type !== 'approval-request') continue;
    await dialog.note(`  … ${renderWaiting(request, request.votes?.length ?? 0)}`);
  }
}

/* Input from a pipe was written before the request was shown, perhaps by `yes`. */
function requireTerminal(
  { requestId }: UserInputRequest,
  { input = process.stdin }: TerminalOptions,
): void {
  if (input.isTTY === true) return;
  throw new HoldpointError(
    'not-allowed',
    `askInTerminal can't ask about request ${requestId}: its input is not a terminal. Run the program in a terminal, or set ` +
      'acceptLines: true if lines of a pipe may answer.',
    { requestId },
  );
}

function hasVoted(request: UserInputRequest, person: string | undefined): boolean {
  if (person === undefined || request.type !== 'approval-request') return false;
  const names = (request.votes ?? []).flatMap((vote) => [vote.person, vote.onBehalfOf ?? '']);
  return names.map(normalizeName).includes(normalizeName(person));
}

/* A question that can't be dismissed stays open when the person leaves. */
function forbidDismissal(request: UserInputRequest): UserInputRequest {
  return request.type === 'question-request' ? { ...request, allowDismiss: false } : request;
}

async function askAll(
  requests: readonly UserInputRequest[],
  dialog: Dialog,
  clock: Clock,
): Promise<UserInputResponseContent[]> {
  const answers: UserInputResponseContent[] = [];
  const covered = new Set<UserInputRequest>();
  const ordered = orderByRisk(requests);
  for (const [index, request] of ordered.entries()) {
    if (covered.has(request)) continue;
    const position = ordered.length > 1 ? `${index + 1} of ${ordered.length}` : undefined;
    const rest = ordered.slice(index).filter((other) => !covered.has(other));
    dialog.announce();
    const { given, isLast } = await askOrLeave(request, dialog, { position, rest, clock });
    if (given.length > 1) for (const other of findSimilar(request, rest)) covered.add(other);
    answers.push(...given);
    if (isLast) break;
  }
  return answers;
}

/** The riskiest first, if the rules say how risky the calls are; otherwise as they came. */
function orderByRisk(requests: readonly UserInputRequest[]): readonly UserInputRequest[] {
  const approvals = requests.filter((request) => request.type === 'approval-request');
  if (approvals.every(({ risk }) => risk === undefined)) return requests;
  const questions = requests.filter((request) => request.type === 'question-request');
  return [...groupRequests(approvals).flatMap((group) => group.requests), ...questions];
}

interface AskResult {
  given: readonly UserInputResponseContent[];
  /** True if nothing else can be asked: the person has left, or the terminal is lost. */
  isLast: boolean;
}

/** A request's position among others. */
interface Place {
  position: string | undefined;
  /** It, and those that come after it. */
  rest: readonly UserInputRequest[];
  clock: Clock;
}

async function askOrLeave(
  request: UserInputRequest,
  dialog: Dialog,
  place: Place,
): Promise<AskResult> {
  try {
    const given = await ask(request, dialog, place);
    if (given.length === 0) await dialog.note(leftOpen);
    await noteVotes(given, dialog, place.rest);
    return { given, isLast: false };
  } catch (error) {
    if (!(error instanceof UnansweredError)) throw error;
    const answer = dismissIfDecided(request, error);
    if (error.reason !== 'lost') await dialog.note(answer === undefined ? leftOpen : dismissed);
    const given = answer === undefined ? [] : [answer];
    return { given, isLast: answer === undefined || error.reason !== 'interrupted' };
  }
}

/* A request that one person's approval does not decide must not look decided. */
async function noteVotes(
  given: readonly UserInputResponseContent[],
  dialog: Dialog,
  requests: readonly UserInputRequest[],
): Promise<void> {
  for (const answer of given) {
    if (answer.type !== 'approval-response' || !answer.approved) continue;
    const request = requests.find(({ requestId }) => requestId === answer.requestId);
    if (request?.type !== 'approval-request') continue;
    /* A changed input is a new call: the earlier approvals were given to another one. */
    const count = (answer.input === undefined ? (request.votes?.length ?? 0) : 0) + 1;
    if (count < (request.quorum ?? 1)) {
      await dialog.note(`  … With yours ${renderWaiting(request, count)}`);
    }
  }
}

/** Asks about a request, or, if the person wants to, about all that are like it. */
async function ask(
  request: UserInputRequest,
  dialog: Dialog,
  { position, rest, clock }: Place,
): Promise<readonly UserInputResponseContent[]> {
  if (request.type !== 'approval-request') {
    const answer = await askQuestionInTerminal(request, dialog, {
      position,
      reader: readClock(clock),
    });
    return answer === undefined ? [] : [answer];
  }
  const similar = findSimilar(request, rest);
  const label = `See all ${similar.length} similar requests`;
  const more = similar.length > 1 ? [{ label, leadsOn: true }] : [];
  for (let isGroupShown = false; ; isGroupShown = true) {
    const reader = readClock(clock);
    const asked = await askApproval(request, dialog, { position, reader, more });
    if ('answer' in asked) return asked.answer === undefined ? [] : [asked.answer];
    if (!isGroupShown) dialog.announce();
    const answers = await askGroup(similar, dialog, reader);
    if (answers !== undefined) return answers;
  }
}

function findSimilar(
  request: UserInputRequest,
  rest: readonly UserInputRequest[],
): readonly ApprovalRequest[] {
  const groups = groupRequests(rest.filter((other) => other.type === 'approval-request'));
  return groups.find(({ requests }) => requests.some((other) => other === request))?.requests ?? [];
}

/* A person who can't have read it, or whose terminal is lost, has not decided to dismiss it. */
function dismissIfDecided(
  request: UserInputRequest,
  { reason }: UnansweredError,
): UserInputResponseContent | undefined {
  const isDecided = reason === 'interrupted' || reason === 'ended';
  if (request.type === 'approval-request' || !request.allowDismiss || !isDecided) return undefined;
  return { type: 'question-response', requestId: request.requestId, status: 'dismissed' };
}

function parseRequests(requests: readonly unknown[]): UserInputRequest[] {
  return requests.map((request) => {
    const parsed = userInputRequestSchema.safeParse(request);
    if (!parsed.success) {
      throw new HoldpointError(
        'invalid-input',
        `askInTerminal was given an invalid request: ${renderSchemaError(parsed.error)}`,
      );
    }
    const { data } = parsed;
    const fault = data.type === 'question-request' ? whyNotQuestion(data) : undefined;
    if (fault === undefined) return data;
    throw new HoldpointError(
      'invalid-input',
      `Request ${data.requestId} can't be asked: ${fault}.`,
    );
  });
}
