import type { JSONValue } from 'ai';
import { z } from 'zod';
import { errorText } from '../../content/error-text.ts';
import type { QuestionRequestContent, QuestionResponseContent } from '../../content/question.ts';
import type { CallPlace, ToolCallOutcome } from '../../content/tool-call.ts';
import type { UserInputResponseContent } from '../../content/user-input.ts';
import { HoldpointError } from '../../errors.ts';
import type { Proposal } from '../../thread/proposal.ts';
import { jsonCopy } from '../../thread/tagged-json.ts';
import type { ThreadEvent } from '../../thread/thread-event.ts';
import {
  callAt,
  endsTurn,
  isRunning,
  type OpenRequest,
  type ThreadHead,
} from '../../thread/thread-head.ts';
import {
  cancelledIn,
  cancelOpenEvents,
  expiryEvents,
  type FollowUps,
  interruptEvents,
  reminderEvents,
  unstartedOutcome,
  overdueEvents,
} from '../calls/close-requests.ts';
import { statusOf } from '../../thread/thread-status.ts';
import { type QuestionResult, settled } from '../calls/question-call.ts';
import { missingTool, type ToolDefinitions } from '../calls/tool-definitions.ts';
import { inputMessageSchemas } from '../model/model-step.ts';
import { closedBy } from '../../policy/closed-by.ts';
import type { PrincipalId } from '../../policy/principal-id.ts';
import { newAnswers } from './check-answers.ts';
import { newMessages } from './new-messages.ts';
import { type ParsedInput, hasContent, type Weigh } from './parse-input.ts';
import { refuseEdit, replacedMessages } from './replaced-messages.ts';
import type { AnswerOptions } from './run-input.ts';

/** How a thread accepts input. */
export interface AcceptOptions {
  tools: ToolDefinitions;
  now: number;
  whilePending: 'refuse' | 'cancel';
  principalId: PrincipalId;
  /** The requests that follow those that have expired. */
  followUps?: FollowUps | undefined;
}

/**
 * Proposes the events that record an input: answers, expiries, and messages. Throws if any of it is refused; nothing is appended then, so
 * that bad input changes nothing.
 */
export function acceptInput(
  proposal: Proposal,
  input: ParsedInput,
  { tools, now, whilePending, principalId, followUps }: AcceptOptions,
): void {
  const { state } = proposal;
  const answers = newAnswers(state, input, now);
  if (input.reported !== undefined) proposal.add(...input.reported(proposal, now));
  const { head } = proposal;
  const recording = { tools, head, by: input.by, at: now };
  const { weighed } = input;
  const answered = answers.flatMap(({ answer, open }) => {
    const weigh = weighed?.get(answer.requestId);
    return answerEvents(answer, open, { ...recording, weigh });
  });
  proposal.add(
    ...answered,
    ...expiryEvents(
      head,
      answers.map(({ answer }) => answer),
      { now, followUps },
    ),
  );
  proposal.add(...reminderEvents(proposal.head, now));
  proposal.add(...overdueEvents(proposal.head, now));
  if (answered.some((event) => event.type === 'call-ended' && endsTurn(event))) {
    const interrupting = { at: now, by: closedBy(input.by, principalId) };
    addEnding(proposal, input, interruptEvents(proposal.head, interrupting));
  }
  const messages = newMessages(state, input);
  const { requesters = [] } = input;
  if (messages.length === 0) return;
  refuseMessage(state.threadId, proposal.head, whilePending, now);
  const replaced = replacedMessages(state, input);
  refuseEdit(state, input, replaced);
  if (whilePending === 'cancel') {
    const reason = 'The user sent a message without answering.';
    const cancelling = { reason, at: now, by: closedBy(input.by, principalId) };
    addEnding(proposal, input, cancelOpenEvents(proposal.head, cancelling));
  }
  proposal.add(
    ...replaced.map((): ThreadEvent => ({ type: 'message-retracted', at: now, ...input.by })),
    ...messages.map((message): ThreadEvent => ({
      type: 'message-added',
      at: now,
      message,
      ...(requesters.length > 1 ? { requesters: [...requesters] } : {}),
      ...input.by,
    })),
  );
}

/** Adds the events that end requests, unless the sender may not end one of them. */
function addEnding(
  proposal: Proposal,
  { refuseEnding }: ParsedInput,
  events: readonly ThreadEvent[],
): void {
  if (refuseEnding !== undefined) cancelledIn(events, proposal.head).forEach(refuseEnding);
  proposal.add(...events);
}

function refuseMessage(
  threadId: string,
  head: ThreadHead,
  whilePending: 'refuse' | 'cancel',
  now: number,
): void {
  if (isRunning(head, now)) {
    throw new HoldpointError(
      'thread-busy',
      `Thread ${threadId} is being run; send the message when that run has ended.`,
    );
  }
  if (statusOf(head, now) === 'indeterminate') {
    throw new HoldpointError(
      'thread-indeterminate',
      `Thread ${threadId} has a call whose outcome is unknown; see thread.calls. Settle it with agent.settle first.`,
    );
  }
  const deferred = head.calls.filter((call) => call.status === 'deferred');
  const awaited = head.openRequests.length + deferred.length;
  if (awaited > 0 && whilePending !== 'cancel') {
    throw new HoldpointError(
      'requests-open',
      `Thread ${threadId} waits for ${awaited} answer(s) or deferred result(s). ` +
        "Send the answers, deliver the results, or run with whilePending: 'cancel'.",
    );
  }
}

/** The inputs for recording answers. */
interface Recording {
  tools: ToolDefinitions;
  head: Readonly<ThreadHead>;
  by: AnswerOptions;
  at: number;
  weigh: Weigh | undefined;
}

/** The events of an accepted answer: that it was given, and what it does to its call. */
function answerEvents(
  response: UserInputResponseContent,
  open: OpenRequest,
  { tools, head, by, at, weigh }: Recording,
): ThreadEvent[] {
  const { request, place } = open;
  const answered = weigh?.(open, at) ?? [
    { type: 'request-answered', at, response: withoutCall(response), ...by },
  ];
  const call = callAt(head, place);
  if (place === undefined || call === undefined) return answered;
  if (response.type === 'question-response' && request.type === 'question-request') {
    return [...answered, ...questionEndEvents(request, response, { tools, place, at })];
  }
  if (response.type !== 'approval-response' || response.approved) return answered;
  const reason = response.reason?.trim() === '' ? undefined : response.reason;
  const outcome = unstartedOutcome(call, reason);
  return [...answered, { type: 'call-ended', at, ...place, outcome }];
}

/* The call was compared with the stored one, which remains the only copy. */
function withoutCall(response: UserInputResponseContent): UserInputResponseContent {
  if (response.type !== 'approval-response') return response;
  const { toolCall: _compared, ...recorded } = response;
  return recorded;
}

/** The end of a call that asked a question, and the message for the model that comes with it. */
function questionEndEvents(
  request: QuestionRequestContent,
  response: QuestionResponseContent,
  { tools, place, at }: { tools: ToolDefinitions; place: CallPlace; at: number },
): ThreadEvent[] {
  const { toolName = '' } = request.toolCall ?? {};
  const definition = tools.get(toolName);
  /* Nothing is recorded: an agent that has the tool can still accept the answer. */
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

/* Checked before it is written: an invalid outcome would make the log unreadable. */
const resultSchema = z.discriminatedUnion('status', [
  z.strictObject({
    status: z.literal('succeeded'),
    output: z.custom<JSONValue>((value) => value !== undefined),
    message: inputMessageSchemas.user.refine(hasContent, 'must not be empty').optional(),
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
      `The tool that asked question ${requestId} can't accept this answer: ${errorText(error)}`,
      { cause: error, requestId },
    );
  }
}

function outcomeOf(result: QuestionResult): ToolCallOutcome {
  if (result.status === 'succeeded') return { status: 'succeeded', output: result.output };
  const { error } = result;
  return { status: 'failed', error, ...(result.endsTurn === true ? { endsTurn: true } : {}) };
}
