import type { ToolCallRecord } from '../../../content/tool-call.ts';
import { HoldpointError } from '../../../errors.ts';
import type { AgentThread } from '../../../thread/agent-thread.ts';
import type { CallbackCall } from '../callback-url.ts';
import type { CallbackHandlerOptions, DiscardReason } from './callback-handler-options.ts';
import type { ToolResultMessage, UserChoiceMessage } from './callback-message.ts';
import { choiceQuestion } from './record-callback.ts';
import type { RemoteServer } from '../remote-server.ts';
import { resultOutcome } from './result-outcome.ts';
import { allowedUrl } from '../url-checks.ts';

/** A callback whose URL is one that we gave. */
export interface Callback {
  /** The call that the URL was given to. */
  call: CallbackCall;
  server: RemoteServer;
  discard: (reason: DiscardReason, detail?: string) => void;
}

/** What they are recorded with. */
export type CallbackSetting = Required<Pick<CallbackHandlerOptions, 'agent' | 'maximumQuestions'>>;

interface Taking extends Callback {
  thread: AgentThread;
}

const pending: readonly ToolCallRecord['status'][] = ['started', 'deferred', 'indeterminate'];

/** Records what a tool says of its call. What is not about that call, or comes too late, is dropped. */
export async function takeCallback(
  setting: CallbackSetting,
  callback: Callback,
  message: UserChoiceMessage | ToolResultMessage,
): Promise<void> {
  const { call, discard } = callback;
  if (message.group_id !== call.threadId || message.id !== call.toolCallId) {
    discard('mismatch');
    return;
  }
  const thread = await setting.agent.thread(call.threadId);
  const named = thread.calls.find(({ toolCallId }) => toolCallId === call.toolCallId);
  if (named?.toolName !== call.toolName || !pending.includes(named.status)) {
    discard('ended');
    return;
  }
  if (typeof message.call_id === 'string' && message.call_id !== named.idempotencyKey) {
    discard('mismatch', 'call_id');
    return;
  }
  const taking = { ...callback, thread };
  try {
    if (message.type === 'tool_result') await takeResult(setting, taking, message);
    else await takeChoice(setting, taking, named, message);
  } catch (error) {
    if (!isOver(error)) throw error;
    discard('ended');
  }
}

async function takeResult(
  { agent }: CallbackSetting,
  { thread, call }: Taking,
  message: ToolResultMessage,
): Promise<void> {
  await agent.deliver(thread, call.toolCallId, resultOutcome(message), { channel: 'rap' });
}

async function takeChoice(
  { agent, maximumQuestions }: CallbackSetting,
  { thread, call, server, discard }: Taking,
  named: ToolCallRecord,
  message: UserChoiceMessage,
): Promise<void> {
  const responseUrl = allowedUrl(message.response_url, server.origins)?.href;
  if (responseUrl === undefined) {
    discard('response-url', message.response_url.slice(0, 500));
    return;
  }
  if (questionsOf(thread, named) >= maximumQuestions) {
    discard('too-many');
    return;
  }
  await agent.requestAnswer(thread, call.toolCallId, choiceQuestion(message, server), {
    replyTo: { responseUrl },
  });
}

/** How many questions a call has asked. */
function questionsOf({ events }: AgentThread, { step, index }: ToolCallRecord): number {
  return events.filter(
    (event) =>
      event.type === 'request-opened' &&
      event.beside?.step === step &&
      event.beside.index === index,
  ).length;
}

/** Whether somebody was faster: the call has ended meanwhile. */
export function isOver(error: unknown): boolean {
  return (
    HoldpointError.isInstance(error) &&
    (error.code === 'already-answered' || error.code === 'not-allowed')
  );
}

/* MERGED from rap/choice-question.ts */
import type { Question } from '../../../agent/calls/question-call.ts';
import type { UserChoiceMessage } from './callback-message.ts';
import type { RemoteServer } from '../remote-server.ts';

/**
 * The question of a `user_choice`: one pick of the labels, in their order, whatever they say. Nothing is picked before the person
 * picks; the default is the answer that closing gives, where the app lets it be one, and its index stands in the metadata in any case.
 */
export function choiceQuestion(
  { prompt, choices, default: index }: UserChoiceMessage,
  { onDismiss }: Pick<RemoteServer, 'onDismiss'>,
): Question {
  const key = 'choice';
  const options = choices.map((label, at) => ({ id: String(at), label }));
  return {
    kind: 'choice',
    text: prompt,
    fields: [{ key, label: prompt, options, min: 1, max: 1, freeText: 'never' }],
    allowDismiss: true,
    metadata: { default: index },
    ...(onDismiss === 'default' ? { dismissAnswer: [{ key, optionIds: [String(index)] }] } : {}),
  };
}
