import { HoldpointError, type RefusedAnswer } from '../../errors.ts';
import { RefusedAnswerError } from './answer-errors.ts';

/** The refusals of answers of one input, by request. They are refused together, with everything else in the input. */
export type Refusals = ReadonlyMap<string, HoldpointError>;

/** Records the refusal of an answer. The first reason is kept. Throws an error that is not about this answer. */
export function noteRefusal(
  refusals: Map<string, HoldpointError>,
  requestId: string | undefined,
  error: unknown,
): void {
  const isRefusal = HoldpointError.isInstance(error) && error.requestId === requestId;
  if (requestId === undefined || !isRefusal) throw error;
  if (!refusals.has(requestId)) refusals.set(requestId, error);
}

/** Throws the first refusal, which names the others in the order of the answers; nothing where none was refused. */
export function refuseTogether(refusals: Refusals, requestIds: readonly string[]): void {
  const [first] = refusals.values();
  if (first === undefined) return;
  const refusedAnswers = [...new Set(requestIds)].flatMap((requestId): RefusedAnswer[] => {
    const refusal = refusals.get(requestId);
    if (refusal === undefined) return [];
    const { code, message, field, reason } = refusal;
    return [{ requestId, code, message, ...(field && { field }), ...(reason && { reason }) }];
  });
  const { code, message, requestId, field, reason } = first;
  const cause = 'cause' in first ? { cause: first.cause } : {};
  const details = { requestId, field, reason, refusedAnswers, ...cause };
  /* The agent above tells people the same reason. */
  if (first instanceof RefusedAnswerError)
    throw new RefusedAnswerError(first.refusal, message, details);
  throw new HoldpointError(code, message, details);
}
