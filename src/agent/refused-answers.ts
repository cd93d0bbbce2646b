import { HoldpointError, type RefusedAnswer } from '../errors.ts';
import type { ThreadLog } from '../thread/thread-log.ts';
import { type AnswerOptions, listAnswers, parseInput } from './input/parse-input.ts';
import type { AgentContext } from './run/agent-context.ts';
import { checkAnswers } from './thread-changes.ts';

/**
 * The error with which an input was refused, with each of its answers that would be refused alone as well, in their order. Any other error as
 * it is. Records nothing.
 */
export async function nameRefusedAnswers(
  context: AgentContext,
  log: ThreadLog,
  { input, by, error }: { input: unknown; by: AnswerOptions; error: unknown },
): Promise<unknown> {
  if (!HoldpointError.isInstance(error) || error.requestId === undefined) return error;
  const refused = new Map<string, RefusedAnswer>();
  for (const answer of listAnswers(input)) {
    const { requestId } = answer;
    const isCause = requestId === error.requestId;
    const refusal = isCause ? error : await findRefusal(context, log, answer.given, by);
    if (refusal !== undefined) refused.set(requestId, describeRefusedAnswer(refusal, requestId));
  }
  if (!refused.has(error.requestId)) return error;
  const { code, message, requestId, field, reason } = error;
  const said = { requestId, field, reason, refusedAnswers: [...refused.values()] };
  const cause = 'cause' in error ? { cause: error.cause } : {};
  return new HoldpointError(code, message, { ...said, ...cause });
}

/** Why an answer would be refused alone; `undefined` if it would be accepted, or if that can't be found out. */
async function findRefusal(
  context: AgentContext,
  log: ThreadLog,
  answer: unknown,
  by: AnswerOptions,
): Promise<HoldpointError | undefined> {
  try {
    await checkAnswers(context, log, parseInput(answer, by), context.mayAnswer);
    return undefined;
  } catch (error) {
    return HoldpointError.isInstance(error) && error.requestId !== undefined ? error : undefined;
  }
}

function describeRefusedAnswer(
  { code, message, field, reason }: HoldpointError,
  requestId: string,
): RefusedAnswer {
  return {
    requestId,
    code,
    message,
    ...(field === undefined ? {} : { field }),
    ...(reason === undefined ? {} : { reason }),
  };
}
