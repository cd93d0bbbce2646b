import type { Agent } from '../../agent/agent.ts';
import type { SeenRequest } from '../../agent/list-requests.ts';
import { suggestStandingApproval } from '../../backtest/suggest-standing-approval.ts';
import type { UserInputRequest, UserInputResponseContent } from '../../content/user-input.ts';
import { HoldpointError } from '../../errors.ts';
import { makeRefusal } from '../../http/error-response.ts';
import type { AgentThread } from '../../thread/agent-thread.ts';
import { maskRequest } from '../../view/mask-secrets.ts';
import type { InboxAnswers, InboxEntry, InboxOutcome } from './inbox-api.ts';
import { seeInboxRows, syncClock } from './inbox-agents.ts';
import { type InboxContext, type InboxUser, reportMistake } from './inbox-context.ts';
import { describeEntry, findSecrets, makeShown } from './describe-entry.ts';
import { findSeenRequest } from './read-request.ts';

/** The request that somebody means. */
interface MeantRequest {
  requestId: string;
  threadId: string;
}

/** Records answers, each on its own: one that is refused keeps no other from being recorded. */
export async function recordAnswers(
  inbox: InboxContext,
  user: InboxUser,
  { answers }: InboxAnswers,
): Promise<InboxOutcome[]> {
  const outcomes: InboxOutcome[] = [];
  for (const given of answers) {
    const work = async (seen: SeenRequest) => recordAnswer(inbox, user, { given, seen });
    const outcome = await describeOutcome(inbox, user, given, work);
    outcomes.push(isApproval(given.answer) ? await addSuggestion(inbox, user, outcome) : outcome);
  }
  return outcomes;
}

function isApproval(answer: UserInputResponseContent): boolean {
  return answer.type === 'approval-response' && answer.approved;
}

/** After an approval: the standing approval that would have spared the person such questions. Not where it can't be made. */
async function addSuggestion(
  inbox: InboxContext,
  user: InboxUser,
  outcome: InboxOutcome,
): Promise<InboxOutcome> {
  const { agents } = inbox;
  if (outcome.status !== 'recorded' || !agents.canRun) return outcome;
  try {
    const row = await agents.requests.get(outcome.requestId);
    const people = row && agents.findPeople(row.agent);
    if (row?.state !== 'approved' || people === undefined) return outcome;
    const { requests } = agents;
    const { principalId } = people;
    const suggestion = await suggestStandingApproval({
      requests,
      principalId,
      principal: user.by.principal,
      row,
    });
    return suggestion === undefined ? outcome : { ...outcome, suggestion };
  } catch (error) {
    reportMistake(inbox, 'A suggestion', error);
    return outcome;
  }
}

/**
 * Does something about a request that the person may see, and says what came of it, with the request as it is afterwards. Throws nothing: what the request
 * is refused for is an outcome too, and `not-found` if they may not see it.
 */
export async function describeOutcome(
  inbox: InboxContext,
  user: InboxUser,
  { requestId, threadId }: MeantRequest,
  work: (seen: SeenRequest) => Promise<void>,
): Promise<InboxOutcome> {
  const { onError } = inbox.options;
  try {
    const seen = await findSeenRequest(inbox, user, { requestId, threadId });
    await work(seen);
    const now = await readAgain(inbox, user, seen);
    return { status: 'recorded', requestId, entry: await describeEntry(inbox, user, now) };
  } catch (error) {
    const { field, ...refusal } = makeRefusal(error, onError, ['missing-tool']);
    const entry = await findEntry(inbox, user, { requestId, threadId });
    return {
      status: 'refused',
      requestId,
      error: { ...refusal, ...(field && { field: [...field] }) },
      ...(entry && { entry }),
    };
  }
}

/**
 * A request after somebody has acted, which they see also if the act has ended their right to see it. As it was before, if it is gone or can't be
 * read: the act is recorded all the same.
 */
async function readAgain(
  inbox: InboxContext,
  user: InboxUser,
  before: SeenRequest,
): Promise<SeenRequest> {
  const { agents } = inbox;
  try {
    await syncClock(agents);
    const row = await agents.requests.get(before.row.requestId);
    const [seen = before] = row === undefined ? [] : await seeInboxRows(agents, [row], user.by);
    return seen;
  } catch (error) {
    reportMistake(inbox, 'Reading a request again', error);
    return before;
  }
}

async function findEntry(
  inbox: InboxContext,
  user: InboxUser,
  ids: { requestId: string; threadId: string },
): Promise<InboxEntry | undefined> {
  try {
    return await describeEntry(inbox, user, await findSeenRequest(inbox, user, ids));
  } catch {
    return undefined;
  }
}

/** A request, its thread and its agent. */
interface FoundRequest {
  agent: Agent;
  thread: AgentThread;
  /** The request as the log has it; absent if it is not open there. */
  request?: UserInputRequest;
}

/**
 * A request as the log has it. Throws `answer-mismatch` if what is shown of it is not what they were shown: rows may be older,
 * and somebody may have changed them. Of a request that has ended, the agent says what came of it.
 */
export async function findShown(
  inbox: InboxContext,
  seen: SeenRequest,
  digest: string,
): Promise<FoundRequest> {
  const { row } = seen;
  const agent = inbox.agents.find(row.agent);
  if (agent === undefined) throw new HoldpointError('not-found', 'Its agent is not here.');
  const thread = await agent.thread(row.threadId);
  const request = thread.activeRequests.find(({ requestId }) => requestId === row.requestId);
  const isOver = request === undefined && (row.kind === 'approval' || row.kind === 'question');
  if (isOver) return { agent, thread };
  const shown = await makeShown(inbox, request === undefined ? seen : { row, request });
  if (shown.digest !== digest) {
    throw makeUnshownError(row.requestId);
  }
  return { agent, thread, ...(request && { request }) };
}

/** For something that is not what the person was shown. */
export function makeUnshownError(requestId: string): HoldpointError {
  const message = `Request ${requestId} is no longer what was shown. Read it again.`;
  return new HoldpointError('answer-mismatch', message, { requestId });
}

async function recordAnswer(
  inbox: InboxContext,
  user: InboxUser,
  { given, seen }: { given: InboxAnswers['answers'][number]; seen: SeenRequest },
): Promise<void> {
  if (given.answer.requestId !== given.requestId) {
    throw new HoldpointError('invalid-answer', 'The answer names another request.');
  }
  const { agent, thread, request } = await findShown(inbox, seen, given.digest);
  const answer = await bindAnswer(inbox, seen, { request, answer: given.answer });
  await agent.respond(answer, thread, user.by);
  inbox.claims.release(given, user);
}

/**
 * The answer bound to the request in the log, which the agent compares again when it records it. What was masked is not what is stored: such an
 * answer can't repeat the call, and its digest is that of what was shown.
 */
async function bindAnswer(
  inbox: InboxContext,
  { row, request: listed }: SeenRequest,
  { request, answer }: { request: UserInputRequest | undefined; answer: UserInputResponseContent },
): Promise<UserInputResponseContent> {
  if (answer.type !== 'approval-response') return answer;
  const asked = request ?? listed;
  if (asked?.type !== 'approval-request') return answer;
  const { secrets } = await findSecrets(inbox, { row, request: asked });
  const { masked } = maskRequest(asked, secrets, '');
  if (masked.length === 0) return { ...answer, digest: answer.digest ?? asked.digest };
  if (answer.input !== undefined || answer.toolCall !== undefined) {
    throw new HoldpointError(
      'not-allowed',
      `Request ${row.requestId} has arguments that are not shown, and can't be edited here.`,
    );
  }
  return { ...answer, digest: asked.digest };
}
