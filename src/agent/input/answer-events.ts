import type { JSONValue } from 'ai';
import { z } from 'zod';
import { errorText } from '../../content/error-text.ts';
import type { QuestionRequestContent, QuestionResponseContent } from '../../content/question.ts';
import type { CallPlace, ToolCallOutcome } from '../../content/tool-call.ts';
import type { UserInputResponseContent } from '../../content/user-input.ts';
import { HoldpointError } from '../../errors.ts';
import { jsonCopy } from '../../thread/tagged-json.ts';
import type { ThreadEvent } from '../../thread/thread-event.ts';
import { callAt, type OpenRequest, type ThreadHead } from '../../thread/thread-state.ts';
import { outcomeUnstarted } from '../calls/close-requests.ts';
import { missingTool } from '../calls/missing-tools.ts';
import { type QuestionResult, settled } from '../calls/question-call.ts';
import type { ToolDefinitions } from '../calls/tool-definitions.ts';
import { inputMessageSchemas } from '../model/model-step.ts';
import { saysSomething } from './parse-input.ts';
import type { AnswerOptions } from './run-input.ts';

/** What answers are recorded with. */
interface Recording {
  tools: ToolDefinitions;
  head: Readonly<ThreadHead>;
  by: AnswerOptions;
  at: number;
}

/** The events of an answer that was checked: that it was given, and what it makes of the call that it is about. */
export function answerEvents(
  response: UserInputResponseContent,
  { request, place }: OpenRequest,
  { tools, head, by, at }: Recording,
): ThreadEvent[] {
  const answered: ThreadEvent = {
    type: 'request-answered',
    at,
    response: withoutCall(response),
    ...by,
  };
  const call = callAt(head, place);
  if (place === undefined || call === undefined) return [answered];
  if (response.type === 'question-response' && request.type === 'question-request') {
    return [answered, ...questionEndEvents(request, response, { tools, place, at })];
  }
  if (response.type !== 'approval-response' || response.approved) return [answered];
  const reason = response.reason?.trim() === '' ? undefined : response.reason;
  const outcome = outcomeUnstarted(call, reason);
  return [answered, { type: 'call-ended', at, ...place, outcome }];
}

/* The call was compared with the stored one, which stays its only copy. */
function withoutCall(response: UserInputResponseContent): UserInputResponseContent {
  if (response.type !== 'approval-response') return response;
  const { toolCall: _compared, ...recorded } = response;
  return recorded;
}

/** The end of a call that asked, and what the model is told beside it. */
function questionEndEvents(
  request: QuestionRequestContent,
  response: QuestionResponseContent,
  { tools, place, at }: { tools: ToolDefinitions; place: CallPlace; at: number },
): ThreadEvent[] {
  const { toolName = '' } = request.toolCall ?? {};
  const definition = tools.get(toolName);
  /* Nothing is recorded: an agent that has the tool can read the answer. */
  if (definition === undefined) throw missingTool(request, toolName);
  const { asking } = definition;
  if (asking === undefined) {
    const error = `Answered, but the tool '${toolName}' no longer asks questions: it can't read the answer.`;
    return [{ type: 'call-ended', at, ...place, outcome: { status: 'failed', error } }];
  }
  const result = resultOf(
    () => asking.toResult(structuredClone(response), structuredClone(request)),
    request,
  );
  const ended: ThreadEvent = { type: 'call-ended', at, ...place, outcome: outcomeOf(result) };
  if (result.status !== 'succeeded' || result.message === undefined) return [ended];
  return [ended, { type: 'message-added', at, place, message: result.message }];
}

/* Checked before it is written: what does not fit would make the whole log unreadable. */
const resultSchema = z.discriminatedUnion('status', [
  z.strictObject({
    status: z.literal('succeeded'),
    output: z.custom<JSONValue>((value) => value !== undefined),
    message: inputMessageSchemas.user.refine(saysSomething, 'must not be empty').optional(),
  }),
  z.strictObject({
    status: z.literal('failed'),
    error: z.string(),
    endsTurn: z.boolean().optional(),
  }),
]);

function resultOf(make: () => QuestionResult, { requestId }: QuestionRequestContent) {
  try {
    return resultSchema.parse(jsonCopy(settled(make(), 'toResult')));
  } catch (error) {
    throw new HoldpointError(
      'invalid-answer',
      `The tool that asked can't take this answer to question ${requestId}: ${errorText(error)}`,
      { cause: error, requestId },
    );
  }
}

function outcomeOf(result: QuestionResult): ToolCallOutcome {
  if (result.status === 'succeeded') return { status: 'succeeded', output: result.output };
  const { error, endsTurn } = result;
  return { status: 'failed', error, ...(endsTurn === true ? { endsTurn } : {}) };
}
