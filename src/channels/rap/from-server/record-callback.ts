import type { Question } from '../../../agent/calls.ts';
import type { Agent } from '../../../agent/agent.ts';
import { makeChoice } from '../../../content/question.ts';
import { awaitedBy, type ToolCallRecord } from '../../../content/tool-call.ts';
import { HoldpointError } from '../../../errors.ts';
import type { AgentThread } from '../../../thread/agent-thread.ts';
import type { CallbackCall } from '../callback-url.ts';
import {
  toResultOutcome,
  type ToolResultMessage,
  type UserChoiceMessage,
} from './callback-message.ts';
import type { RemoteServer } from '../remote-server.ts';
import { parseAllowedUrl } from '../url-checks.ts';

/** Why a callback was discarded. */
export type DiscardReason =
  /** Its URL was not created for a call of these tools, or with another secret. */
  | 'capability'
  /** The tool's messages must be signed; this one is not, or not by its server. */
  | 'signature'
  /** The body is too long, not JSON, or not a message of the protocol. */
  | 'malformed'
  /** A type of message that is not supported, such as `oauth`. */
  | 'unsupported'
  /** Its `group_id`, `id` or `call_id` is not that of the call whose URL was used. */
  | 'mismatch'
  /** The call has ended or does not exist. */
  | 'ended'
  /** The origin of its `response_url` is not allowed. */
  | 'response-url'
  /** The call has asked too many questions, or too many of its messages are being handled. */
  | 'too-many';

/** A callback that was discarded, for the app's log. */
export interface DiscardedCallback {
  reason: DiscardReason;
  /** The thread and the call whose URL was used. */
  threadId?: string;
  toolCallId?: string;
  /** Details for developers. They may quote the sender. */
  detail?: string;
}

/** A callback to a URL that was created here. */
export interface Callback {
  /** The call that the URL was created for. */
  call: CallbackCall;
  server: RemoteServer;
  discard: (reason: DiscardReason, detail?: string) => void;
}

/** The handler's options that recording a callback needs. */
export interface RecordingOptions {
  agent: Pick<Agent, 'thread' | 'deliver' | 'requestAnswer'>;
  maximumQuestions: number;
}

interface ThreadCallback extends Callback {
  thread: AgentThread;
}

/** Records a result or a question in the thread of its call. Discards a message about another call, or about one that has ended. */
export async function recordCallback(
  options: RecordingOptions,
  callback: Callback,
  message: UserChoiceMessage | ToolResultMessage,
): Promise<void> {
  const { call, discard } = callback;
  if (message.group_id !== call.threadId || message.id !== call.toolCallId) {
    discard('mismatch');
    return;
  }
  const thread = await options.agent.thread(call.threadId);
  const record = thread.calls.find(({ toolCallId }) => toolCallId === call.toolCallId);
  if (record?.toolName !== call.toolName || !isPending(record)) {
    discard('ended');
    return;
  }
  if (typeof message.call_id === 'string' && message.call_id !== record.idempotencyKey) {
    discard('mismatch', 'call_id');
    return;
  }
  const threadCallback = { ...callback, thread };
  try {
    if (message.type === 'tool_result') await recordResult(options, threadCallback, message);
    else await recordQuestion(options, threadCallback, record, message);
  } catch (error) {
    if (!isCallEnded(error)) throw error;
    discard('ended');
  }
}

/** Whether the call was handed to its server and has not ended. */
function isPending({ status }: ToolCallRecord): boolean {
  const awaited = awaitedBy[status];
  return awaited === 'attempt' || awaited === 'elsewhere';
}

async function recordResult(
  { agent }: RecordingOptions,
  { thread, call }: ThreadCallback,
  message: ToolResultMessage,
): Promise<void> {
  await agent.deliver(thread, call.toolCallId, toResultOutcome(message), { channel: 'rap' });
}

async function recordQuestion(
  { agent, maximumQuestions }: RecordingOptions,
  { thread, call, server, discard }: ThreadCallback,
  record: ToolCallRecord,
  message: UserChoiceMessage,
): Promise<void> {
  const responseUrl = parseAllowedUrl(message.response_url, server.origins)?.href;
  if (responseUrl === undefined) {
    discard('response-url', message.response_url.slice(0, 500));
    return;
  }
  if (countQuestions(thread, record) >= maximumQuestions) {
    discard('too-many');
    return;
  }
  await agent.requestAnswer(thread, call.toolCallId, makeChoiceQuestion(message, server), {
    replyTo: { responseUrl },
  });
}

/** How many questions a call has asked. */
function countQuestions({ events }: AgentThread, { step, index }: ToolCallRecord): number {
  return events.filter(
    (event) =>
      event.type === 'request-opened' &&
      event.beside?.step === step &&
      event.beside.index === index,
  ).length;
}

/** Whether an error means that the call has ended in the meantime. */
export function isCallEnded(error: unknown): boolean {
  return (
    HoldpointError.isInstance(error) &&
    (error.code === 'already-answered' || error.code === 'not-allowed')
  );
}

/*
 * The question of a `user_choice`: pick one of the labels, in their order. Nothing is preselected. The server's default is the
 * answer of a dismissal if the app allows that; its index is in the metadata in any case.
 */
function makeChoiceQuestion(
  { prompt, choices, default: index }: UserChoiceMessage,
  { onDismiss }: Pick<RemoteServer, 'onDismiss'>,
): Question {
  const key = 'choice';
  const options = choices.map((label, at) => ({ id: String(at), label }));
  return {
    ...makeChoice({ kind: 'choice', text: prompt, key, options, freeText: 'never' }),
    metadata: { default: index },
    ...(onDismiss === 'default' ? { dismissAnswer: [{ key, optionIds: [String(index)] }] } : {}),
  };
}
