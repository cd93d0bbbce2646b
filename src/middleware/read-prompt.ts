import {
  type HistoryOption,
  importFromClient,
  isOnlyImported,
  type SentPlace,
} from '../view/import-from-client.ts';
import { makeImportError, type AnswerOptions, type Agent } from '../agent.ts';
import {
  type ModelMessage,
  modelMessageSchema,
  type SystemModelMessage,
  type UserModelMessage,
} from 'ai';
import { z } from 'zod';
import type { UserInputResponseContent } from '../content/user-input.ts';
import { HoldpointError } from '../errors.ts';
import type { AgentThread } from '../thread/agent-thread.ts';
import { isForHoldPoint } from '../thread/app-messages.ts';
import type { ModelCallOptions } from './model-call.ts';
import { splitHeldMessages } from './plain-messages.ts';
import { answersInMessage, isResumeMessage } from './requests-and-answers.ts';

type PromptMessage = ModelCallOptions['prompt'][number];
/** A message that neither a model nor a tool wrote. */
export type OutsideMessage = UserModelMessage | SystemModelMessage;

/** The parts of a prompt that the middleware reads. The rest is history, for which the thread is the authority. */
export interface ReadPrompt {
  /** The system messages at the start. */
  instructions: SystemModelMessage[];
  /** The messages before `messages`, without the instructions: history, which counts only for a thread without events. */
  earlier: ModelCallOptions['prompt'];
  /** True if the call resumes its thread without a message: `messages` and all answers are empty then. */
  isResumed: boolean;
  /** The messages after the last one of a model or a tool, without those of `answerMessage` and `resumeMessage`. */
  messages: OutsideMessage[];
  /** The unvalidated answers in the message of `answerMessage` at the very end; of all, if the prompt has no other messages. */
  answersInMessages: unknown[];
  /** The answers in the tool message at the very end, by approval id, unvalidated. */
  answers: UserInputResponseContent[];
  /** The ids under which any message answers a request. Those before the end are history, which anybody may have written. */
  answeredIds: readonly string[];
  /** The ids of the calls in the prompt's last turn. The caller already has these calls; they prove nothing. */
  shownCalls: readonly string[];
  /** The approval ids that the prompt's last turn answers. */
  shownAnswers: readonly string[];
}

/** Reads the newest part of a prompt. */
export function readPrompt(prompt: ModelCallOptions['prompt']): ReadPrompt {
  const head = prompt.findIndex(({ role }) => role !== 'system');
  const instructions = prompt.slice(0, head === -1 ? prompt.length : head).filter(isFromOutside);
  const rest = prompt.slice(instructions.length);
  const last = rest.findLastIndex((message) => !isFromOutside(message));
  const newest = rest.slice(last + 1).filter(isFromOutside);
  const turn = rest.slice(rest.findLastIndex(({ role }) => role === 'user') + 1);
  const given =
    newest.length === rest.length && newest.every(isOfAnswers) ? newest : newest.slice(-1);
  const isResumed = newest.slice(-1).some(isResumeMessage);
  return {
    isResumed,
    instructions: instructions.filter((message) => message.role === 'system'),
    earlier: rest.slice(0, last + 1),
    messages: isResumed ? [] : newest.filter((message) => !isForHoldPoint(message)),
    answersInMessages: isResumed ? [] : given.flatMap((message) => answersInMessage(message) ?? []),
    answers: answersIn(rest.at(-1)),
    answeredIds: rest.flatMap(listAnsweredIds),
    shownCalls: turn.flatMap(callIdsIn),
    shownAnswers: turn.flatMap(listAnsweredIds),
  };
}

function isOfAnswers(message: OutsideMessage): boolean {
  return answersInMessage(message) !== undefined;
}

const namedSchema = z.object({ requestId: z.string() });

/** The ids of the requests that a message answers. */
export function listAnsweredIds(message: PromptMessage): string[] {
  const inMessage = isFromOutside(message) ? (answersInMessage(message) ?? []) : [];
  return [...answersIn(message), ...inMessage].flatMap((answer) => {
    const { data } = namedSchema.safeParse(answer);
    return data === undefined ? [] : [data.requestId];
  });
}

/** Checks whether neither a model nor a tool wrote the message. */
export function isFromOutside<MESSAGE extends { role: string }>(
  message: MESSAGE,
): message is MESSAGE & OutsideMessage {
  return message.role === 'user' || message.role === 'system';
}

function answersIn(message: PromptMessage | undefined): UserInputResponseContent[] {
  if (message?.role !== 'tool') return [];
  const responses = message.content.filter((part) => part.type === 'tool-approval-response');
  /* A no beside a yes stays: the agent refuses two different answers. */
  const responded = new Set(
    responses.filter(({ approved }) => !approved).map(({ approvalId }) => approvalId),
  );
  const denials = message.content.flatMap(readDenial);
  const others = denials.filter(({ approvalId }) => !responded.has(approvalId));
  return [...responses, ...others].map(({ approvalId: requestId, approved, reason }) => ({
    type: 'approval-response',
    requestId,
    /* May be any value at run time: the agent rejects what is not a boolean. */
    approved,
    reason,
  }));
}

type ToolPart = Extract<PromptMessage, { role: 'tool' }>['content'][number];

/**
 * Reads a rejection as `generateText` passes it on: it drops a response without `providerExecuted`, and adds this result if the response
 * was no.
 */
function readDenial(
  part: ToolPart,
): { approvalId: string; approved: false; reason: string | undefined }[] {
  if (part.type !== 'tool-result' || part.output.type !== 'execution-denied') return [];
  const { providerOptions, reason } = part.output;
  const approvalId = providerOptions?.['openai']?.['approvalId'];
  return typeof approvalId === 'string' ? [{ approvalId, approved: false, reason }] : [];
}

/** The ids of the calls that a message of the assistant makes. */
export function callIdsIn(message: PromptMessage | ModelMessage): string[] {
  if (message.role !== 'assistant' || typeof message.content === 'string') return [];
  return [...message.content].flatMap((part) =>
    part.type === 'tool-call' ? [part.toolCallId] : [],
  );
}

/** Imports the history in the prompt for a thread without events. Throws `invalid-input` if the app does not import histories. */
export async function withPromptHistory(
  agent: Pick<Agent, 'thread'>,
  prompt: ReadPrompt,
  { threadId, history, by }: { threadId: string; history: HistoryOption; by: AnswerOptions },
): Promise<{ thread: AgentThread; prompt: ReadPrompt }> {
  const { earlier } = prompt;
  const thread = await agent.thread(threadId);
  if (prompt.isResumed && thread.revision === 0) {
    throw new HoldpointError(
      'not-found',
      `Thread ${threadId} does not exist, so it can't be resumed. Check the threadId, and that the store is the one that has the thread.`,
    );
  }
  /* The answers in the history are to requests of the AI SDK; the model proposes the calls again. */
  const withoutAnswers = { ...prompt, answers: [], answeredIds: [] };
  if (thread.revision > 0)
    return { thread, prompt: isOnlyImported(thread) ? withoutAnswers : prompt };
  if (earlier.length === 0) return { thread, prompt };
  if (history !== 'import') {
    throw new HoldpointError(
      'invalid-input',
      `Thread ${threadId} does not exist, but the prompt has ${earlier.length} earlier message(s). Send the new message alone, import them with agent.thread(id, { messages }), or create holdPoint with history: 'import'.`,
    );
  }
  const first = prompt.instructions.length;
  const kept = earlier.flatMap((message, index) =>
    omitApprovals(message, `prompt[${first + index}]`),
  );
  const split = splitHeldMessages(kept.map(({ message }) => message));
  const sent = kept.flatMap(({ position, places }, index) =>
    (split[index] ?? []).map((message) => ({ position, places, message })),
  );
  const imported = await importFromClient(
    agent,
    { threadId, messages: sent.map(({ message }) => message), sent },
    by,
  );
  return { thread: imported, prompt: withoutAnswers };
}

/* The AI SDK leaves its own approval requests out of a prompt, but not the answers to them. */
function omitApprovals(
  message: ReadPrompt['earlier'][number],
  position: string,
): (SentPlace & { message: ModelMessage })[] {
  const { role, content } = message;
  const parts = typeof content === 'string' ? [] : [...content.entries()];
  const kept = parts.filter(([, { type }]) => !type.startsWith('tool-approval'));
  if (typeof content !== 'string' && kept.length === 0) return [];
  const withContent = typeof content === 'string' ? content : kept.map(([, part]) => part);
  const parsed = modelMessageSchema.safeParse({ ...message, role, content: withContent });
  const places = kept.map(([index]) => `content[${index}]`);
  if (parsed.success) return [{ position, message: parsed.data, places }];
  throw makeImportError(position, 'it does not match the schema of the AI SDK', parsed.error);
}
