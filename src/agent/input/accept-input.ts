import { statusOf } from '../../thread/thread-status.ts';
import { messageIdOf } from '../../thread/app-messages.ts';
import type { ModelMessage } from 'ai';
import { HoldpointError } from '../../errors.ts';
import type { Proposal } from '../../thread/proposal.ts';
import type { ThreadEvent } from '../../thread/thread-event.ts';
import {
  endsTurn,
  isRunning,
  type ThreadHead,
  type ThreadState,
} from '../../thread/thread-state.ts';
import {
  cancelOpenEvents,
  expiryEvents,
  interruptEvents,
  overdueEvents,
} from '../calls/close-requests.ts';
import type { ToolDefinitions } from '../calls/tool-definitions.ts';
import { answerEvents } from './answer-events.ts';
import { newAnswers } from './check-answers.ts';
import type { ParsedInput } from './parse-input.ts';

/** How a thread takes what comes in. */
export interface AcceptOptions {
  tools: ToolDefinitions;
  now: number;
  whilePending: 'refuse' | 'cancel';
}

/**
 * Proposes what records an input: answers, what expired meanwhile, and messages. Throws where the input can't stand;
 * nothing is appended then, so that bad input changes nothing.
 */
export function acceptInput(
  proposal: Proposal,
  input: ParsedInput,
  { tools, now, whilePending }: AcceptOptions,
): void {
  const { state } = proposal;
  const answers = newAnswers(state, input, now);
  const { head } = state;
  const recording = { tools, head, by: input.by, at: now };
  const answered = answers.flatMap(({ answer, open }) => answerEvents(answer, open, recording));
  proposal.add(
    ...answered,
    ...expiryEvents(
      head,
      answers.map(({ answer }) => answer),
      now,
    ),
  );
  proposal.add(...overdueEvents(proposal.head, now));
  if (answered.some((event) => event.type === 'call-ended' && endsTurn(event))) {
    proposal.add(...interruptEvents(proposal.head, now));
  }
  const messages = newMessages(state, input);
  if (messages.length === 0) return;
  refuseMessage(state.threadId, proposal.head, whilePending, now);
  proposal.add(
    ...cancelOpenEvents(proposal.head, 'The user went on without answering.', now),
    ...messages.map((message): ThreadEvent => ({
      type: 'message-added',
      at: now,
      message,
      ...input.by,
    })),
  );
}

/** The messages that are news: one whose client sent it before, by its own id for it, is not. */
function newMessages(
  { messages, head }: Readonly<ThreadState>,
  { messages: sent, messageId }: ParsedInput,
): readonly ModelMessage[] {
  if (sent.every((message) => messageIdOf(message) === undefined)) return sent;
  const known = new Set([...messages, ...head.queuedMessages].map(messageIdOf));
  /* The input came before as a whole. */
  if (messageId !== undefined && known.has(messageId)) return [];
  return sent.filter((message) => {
    const id = messageIdOf(message);
    const isNew = id === undefined || !known.has(id);
    known.add(id);
    return isNew;
  });
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
      `A call of thread ${threadId} was started and its outcome is unknown; see thread.calls. It must be settled first.`,
    );
  }
  const deferred = head.calls.filter((call) => call.status === 'deferred');
  const awaited = head.openRequests.length + deferred.length;
  if (awaited > 0 && whilePending !== 'cancel') {
    throw new HoldpointError(
      'requests-open',
      `Thread ${threadId} waits for ${awaited} answer(s) or deferred result(s). ` +
        "Bring them, or run with whilePending: 'cancel'.",
    );
  }
}

/** Throws `not-allowed` unless the last message is one from the app that has no reply, and, where an id is given, has that id. */
export function refuseRetraction(
  { threadId, head, messages }: Readonly<ThreadState>,
  messageId: string | undefined,
): void {
  const last = messages.at(-1);
  const isMeant = messageId === undefined || (last && messageIdOf(last)) === messageId;
  if (head.unanswered.length > 0 && isMeant) return;
  const which = messageId === undefined ? 'The last message' : `Message ${messageId}`;
  throw new HoldpointError(
    'not-allowed',
    `${which} of thread ${threadId} can't be withdrawn: only the last message can be, while it has no reply. Send a new message instead.`,
  );
}
