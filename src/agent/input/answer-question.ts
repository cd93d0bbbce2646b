import { z } from 'zod';
import {
  whyNotAnswer,
  type QuestionRequestContent,
  type QuestionResponseContent,
} from '../../content/question.ts';
import { readErrorText } from '../../content/app-errors.ts';
import { renderFieldFault } from '../../json/field-fault.ts';
import { type CallPlace, jsonValueSchema, type ToolCallOutcome } from '../../content/tool-call.ts';
import { HoldpointError } from '../../errors.ts';
import { copyAsLogged } from '../../json/tagged-json.ts';
import type { ThreadEvent } from '../../thread/thread-event.ts';
import { type QuestionResult, refusePromise } from '../calls/question-call.ts';
import { makeMissingToolError, type ToolDefinitions } from '../calls/tool-definitions.ts';
import { inputMessageSchemas } from '../model/message-schemas.ts';
import { hasContent } from './parse-input.ts';

/** Throws `invalid-answer` for a response that does not answer the question. */
export function refuseNoAnswer(
  request: QuestionRequestContent,
  answer: QuestionResponseContent,
): void {
  const fault = whyNotAnswer(request, answer);
  if (fault === undefined) return;
  throw new HoldpointError(
    'invalid-answer',
    `Not a valid answer to question ${request.requestId}: ${renderFieldFault(fault)}. The question stays open.`,
    { requestId: request.requestId, ...fault },
  );
}

/** The end of a call that asked a question, and the message for the model that comes with it. */
export function makeQuestionEndEvents(
  request: QuestionRequestContent,
  response: QuestionResponseContent,
  { tools, place, at }: { tools: ToolDefinitions; place: CallPlace; at: number },
): ThreadEvent[] {
  const { toolName = '' } = request.toolCall ?? {};
  const definition = tools.get(toolName);
  /* Nothing is recorded: an agent that has the tool can still accept the answer. */
  if (definition === undefined) throw makeMissingToolError(request, toolName);
  const { asking } = definition;
  if (asking === undefined) {
    const error = `Answered, but the tool '${toolName}' no longer asks questions: it can't read the answer.`;
    return [{ type: 'call-ended', at, ...place, outcome: { status: 'failed', error } }];
  }
  const result = makeQuestionResult(
    () => asking.toResult(structuredClone(response), structuredClone(request)),
    request,
  );
  const ended: ThreadEvent = {
    type: 'call-ended',
    at,
    ...place,
    outcome: toQuestionOutcome(result),
  };
  if (result.status !== 'succeeded' || result.message === undefined) return [ended];
  return [ended, { type: 'message-added', at, place, message: result.message }];
}

/* Checked before it is written: an invalid outcome would make the log unreadable. */
const resultSchema = z.discriminatedUnion('status', [
  z.strictObject({
    status: z.literal('succeeded'),
    output: jsonValueSchema,
    message: inputMessageSchemas.user.refine(hasContent, 'must not be empty').optional(),
  }),
  z.strictObject({
    status: z.literal('failed'),
    error: z.string(),
    endsTurn: z.boolean().optional(),
  }),
]);

function makeQuestionResult(make: () => QuestionResult, { requestId }: QuestionRequestContent) {
  try {
    return resultSchema.parse(copyAsLogged(refusePromise(make(), 'toResult')));
  } catch (error) {
    throw new HoldpointError(
      'invalid-answer',
      `The tool that asked question ${requestId} can't accept this answer: ${readErrorText(error)}`,
      { cause: error, requestId },
    );
  }
}

function toQuestionOutcome(result: QuestionResult): ToolCallOutcome {
  if (result.status === 'succeeded') return { status: 'succeeded', output: result.output };
  const { error } = result;
  return { status: 'failed', error, ...(result.endsTurn === true ? { endsTurn: true } : {}) };
}
