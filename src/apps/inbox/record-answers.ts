import type { Agent, SeenRequest } from '../../agent.ts';
import type { UserInputRequest, UserInputResponseContent } from '../../content/user-input.ts';
import { HoldpointError } from '../../errors.ts';
import { makeRefusal } from '../../http/error-response.ts';
import type { AgentThread } from '../../thread/agent-thread.ts';
import { maskRequest } from '../../view/mask-secrets.ts';
import type { InboxAnswers, InboxEntry, InboxOutcome } from './inbox-api.ts';
import { seeInboxRows, syncClock } from './inbox-agents.ts';
import { type InboxContext, type InboxUser, reportMistake } from './inbox-context.ts';
import { describeEntry, findSecrets, makeShown } from './shown-entry.ts';
import { findSeenRequest } from './read-request.ts';

/** The request that a person answers or acts on. */
interface MeantRequest {
  requestId: string;
  threadId: string;
}

/** Records answers separately: a refused one doesn't keep others from being recorded. */
export async function recordAnswers(
  inbox: InboxContext,
  user: InboxUser,
  { answers }: InboxAnswers,
): Promise<InboxOutcome[]> {
  const outcomes: InboxOutcome[] = [];
  for (const given of answers) {
    const work = async (seen: SeenRequest) => recordAnswer(inbox, user, { given, seen });
    outcomes.push(await describeOutcome(inbox, user, given, work));
  }
  return outcomes;
}

/**
 * Acts on a request that the person may see, and describes the outcome, with the request as it is afterwards. Throws nothing: a refusal is
 * an outcome too, which is `not-found` if they may not see the request.
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
 * Reads a request after a person has acted. They see it even if the act has ended their right to see it, and in its earlier state if it is
 * gone or can't be read: the act is recorded anyway.
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
 * Finds a request in the log. Throws `answer-mismatch` if its content differs from what the person was shown: rows may be older, and may
 * have changed. For a request that has ended, the agent reports the outcome.
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

/** Makes the error for a request that differs from what the person was shown. */
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
}

/**
 * Binds the answer to the request in the log, which the agent compares again when it records it. Masked values differ from the stored ones:
 * an answer to them can't repeat the call, and its digest is that of the shown content.
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
