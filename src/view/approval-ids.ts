import type { UserInputRequest, UserInputResponseContent } from '../content/user-input.ts';
import type { AgentThread } from '../thread/agent-thread.ts';
import type { ThreadEvent } from '../thread/thread-event.ts';
import { isQuiet } from '../thread/quiet-events.ts';

/** A request that an approval id names. */
interface NamedRequest {
  requestId: string;
  /** Whether the request has changed since it was shown under the id: somebody voted, withdrew a vote, or let somebody else answer. */
  isOutdated: boolean;
}

/** The id under which a request is shown to the AI SDK after this many changes: a fresh one after each, because a yes belongs to what was shown. */
export function makeApprovalId(changes: number, requestId: string): string {
  return changes === 0 ? requestId : `${requestId}#${changes}`;
}

/** The approval ids of a thread's requests, derived from its log. */
export class ApprovalIds {
  /** How often each request has changed. */
  readonly #changes = new Map<string, number>();

  constructor(events: readonly ThreadEvent[]) {
    for (const event of events) {
      if (event.type === 'request-opened') this.#changes.set(event.request.requestId, 0);
      const changed = findChangedRequest(event);
      if (changed !== undefined) this.#changes.set(changed, this.changesOf(changed) + 1);
    }
  }

  /** Whether an approval id names a request of the thread. */
  isKnown(approvalId: string): boolean {
    return this.#changes.has(this.read(approvalId).requestId);
  }

  /** How often a request has changed. */
  changesOf(requestId: string): number {
    return this.#changes.get(requestId) ?? 0;
  }

  /** The id under which a request is shown now. */
  of(requestId: string): string {
    return makeApprovalId(this.changesOf(requestId), requestId);
  }

  /** The request that an approval id names. An unknown id is taken for the id of a request, which the agent then refuses. */
  read(approvalId: string): NamedRequest {
    const changes = this.#changes.get(approvalId);
    if (changes !== undefined) return { requestId: approvalId, isOutdated: changes > 0 };
    const [, requestId = '', count] = /^(.+)#([1-9]\d*)$/.exec(approvalId) ?? [];
    const now = this.#changes.get(requestId);
    if (now === undefined || Number(count) > now) {
      return { requestId: approvalId, isOutdated: false };
    }
    return { requestId, isOutdated: Number(count) < now };
  }
}

function findChangedRequest(event: ThreadEvent): string | undefined {
  if (isQuiet(event)) return undefined;
  switch (event.type) {
    case 'request-voted':
      return event.response.requestId;
    case 'vote-withdrawn':
    case 'request-reassigned':
      return event.requestId;
    case 'message-added':
    case 'message-retracted':
    case 'step-finished':
    case 'request-opened':
    case 'request-answered':
    case 'request-closed':
    case 'grant-used':
    case 'call-started':
    case 'call-deferred':
    case 'call-lost':
    case 'call-ended':
      return undefined;
  }
}

/** The answers of a message that name approval ids of the AI SDK. */
interface AnswersByApprovalId {
  /** Those that count, by request id. */
  answers: UserInputResponseContent[];
  /** The requests of all of them. */
  requestIds: string[];
}

/**
 * Replaces the approval ids in answers by the ids of their requests. A yes under an id from before the request changed is left out: it may
 * be the vote that changed it, and was not given for what is shown now.
 */
export function answersByApprovalId(
  { events, activeRequests }: Pick<AgentThread, 'events' | 'activeRequests'>,
  answers: readonly UserInputResponseContent[],
): AnswersByApprovalId {
  if (answers.length === 0) return { answers: [], requestIds: [] };
  const ids = new ApprovalIds(events);
  const open = new Map(activeRequests.map((request) => [request.requestId, request]));
  const named = answers.map((answer) => ({ answer, ...ids.read(answer.requestId) }));
  return {
    answers: named
      .filter(({ answer, isOutdated }) => !isOutdated || isRejection(answer))
      .map(({ answer, requestId }) => withShown({ ...answer, requestId }, open.get(requestId))),
    requestIds: named.map(({ requestId }) => requestId),
  };
}

/**
 * The answer; a yes to an edited request with the digest of what its approval id was shown with. Each edit gives a request another id, so the
 * id that it has now names this input.
 */
function withShown(
  answer: UserInputResponseContent,
  request: UserInputRequest | undefined,
): UserInputResponseContent {
  if (answer.type !== 'approval-response' || answer.digest !== undefined) return answer;
  if (request?.type !== 'approval-request' || request.edit === undefined) return answer;
  return answer.approved ? { ...answer, digest: request.digest } : answer;
}

/** Whether an answer denies an approval. */
export function isRejection(answer: UserInputResponseContent): boolean {
  return answer.type === 'approval-response' && !answer.approved;
}
