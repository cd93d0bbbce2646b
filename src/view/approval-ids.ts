import type { UserInputRequest, UserInputResponseContent } from '../content/user-input.ts';
import type { AgentThread } from '../thread/agent-thread.ts';
import { isRequestEvent, readRequestId } from '../thread/request-events.ts';
import type { ThreadEvent } from '../thread/thread-event.ts';

/** A request that an approval id names. */
interface NamedRequest {
  requestId: string;
  /** True if the request has changed since it was shown under the id: a person voted, withdrew a vote, or let another person answer. */
  isOutdated: boolean;
}

/**
 * The ids under which requests are shown to the AI SDK: a fresh one after each change, because a yes belongs to the shown version. Counted
 * over the events of a log, or over those of a turn as they are streamed. See ADR 42.
 */
export class ApprovalIds {
  /** The number of changes of each request. */
  readonly #changes = new Map<string, number>();

  constructor(events: readonly ThreadEvent[] = []) {
    for (const event of events) this.count(event);
  }

  /** Counts an event, which follows those before. */
  count(event: ThreadEvent): void {
    if (isRequestEvent(event, 'asks')) this.#changes.set(readRequestId(event), 0);
    if (!isRequestEvent(event, 'changes')) return;
    const requestId = readRequestId(event);
    this.#changes.set(requestId, this.#changesOf(requestId) + 1);
  }

  /** Checks whether an approval id names a request of the thread. */
  isKnown(approvalId: string): boolean {
    return this.#changes.has(this.read(approvalId).requestId);
  }

  #changesOf(requestId: string): number {
    return this.#changes.get(requestId) ?? 0;
  }

  /** The id under which a request is shown now. */
  of(requestId: string): string {
    const changes = this.#changesOf(requestId);
    return changes === 0 ? requestId : `${requestId}#${changes}`;
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

/** The answers of a message that name approval ids of the AI SDK. */
interface AnswersByApprovalId {
  /** The answers that count, by request id. */
  answers: UserInputResponseContent[];
  /** The ids of all requests that are answered. */
  requestIds: string[];
}

/**
 * Replaces the approval ids in answers by the ids of their requests. A yes under an id from before the request changed is left out: it may
 * be the vote that changed it, and was not given for the present version.
 */
export function answersByApprovalId(
  { activeRequests }: Pick<AgentThread, 'activeRequests'>,
  ids: ApprovalIds,
  answers: readonly UserInputResponseContent[],
): AnswersByApprovalId {
  if (answers.length === 0) return { answers: [], requestIds: [] };
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
 * Returns the answer; a yes to an edited request has the digest that its approval id was shown with. Each edit gives a request another id,
 * so the id that it has now names this input.
 */
function withShown(
  answer: UserInputResponseContent,
  request: UserInputRequest | undefined,
): UserInputResponseContent {
  if (answer.type !== 'approval-response' || answer.digest !== undefined) return answer;
  if (request?.type !== 'approval-request' || request.edit === undefined) return answer;
  return answer.approved ? { ...answer, digest: request.digest } : answer;
}

/** Checks whether an answer denies an approval. */
export function isRejection(answer: UserInputResponseContent): boolean {
  return answer.type === 'approval-response' && !answer.approved;
}
