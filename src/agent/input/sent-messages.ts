import type { ModelMessage } from 'ai';
import { HoldpointError } from '../../errors.ts';
import { isEqualJson } from '../../policy/digest.ts';
import { isSamePrincipal, type PrincipalId } from '../../policy/same-person.ts';
import { readMessageId, isAppMessage, findRetractedMessages } from '../../thread/app-messages.ts';
import type { Proposal } from '../../thread/proposal.ts';
import { toJson } from '../../json/tagged-json.ts';
import type { ThreadEvent, ThreadEventOf } from '../../thread/thread-event.ts';
import { computeThreadStatus, isRunning } from '../../thread/thread-head.ts';
import type { ThreadState } from '../../thread/thread-state.ts';
import { listHeldApprovals } from '../calls/close-requests.ts';
import type { ParsedInput } from './parse-input.ts';

type SentMessages = Pick<
  ParsedInput,
  'messages' | 'messageId' | 'by' | 'isFromParent' | 'replaces'
>;

/**
 * The messages of an input that the thread does not have: those without an id, or with an unknown one. If the thread has the message that
 * the input's `messageId` names, the input repeats it, and its messages without an id repeat those around it. Throws `invalid-input` for a
 * repetition with other content, or by another person.
 */
export function listNewMessages(
  { messages, head, events }: Readonly<Pick<ThreadState, 'messages' | 'head' | 'events'>>,
  input: SentMessages,
  principalId: PrincipalId,
): readonly ModelMessage[] {
  const { messages: sent, messageId, by, isFromParent } = input;
  if (sent.every((message) => readMessageId(message) === undefined)) return sent;
  const kept = messages.length - listReplacedMessages({ events }, input).length;
  const recorded = [...messages.slice(0, kept), ...head.queuedMessages];
  const known = new Map(recorded.toReversed().map((message) => [readMessageId(message), message]));
  const repeated = messageId === undefined ? undefined : known.get(messageId);
  if (messageId !== undefined && repeated !== undefined && isFromParent !== true) {
    refuseOtherSender(events, messageId, (principal) =>
      isSamePrincipal(by.principal, principal, principalId),
    );
  }
  const named = sent.findIndex((message) => readMessageId(message) === messageId);
  const begin = repeated === undefined ? undefined : recorded.indexOf(repeated) - named;
  const added: ModelMessage[] = [];
  for (const [index, message] of sent.entries()) {
    const id = readMessageId(message);
    const before = id === undefined ? recorded[(begin ?? Infinity) + index] : known.get(id);
    if (before === undefined && (id !== undefined || begin === undefined)) {
      added.push(message);
      if (id !== undefined) known.set(id, message);
    } else if (isFromParent !== true && !hasSameContent(before, message)) {
      throw new HoldpointError(
        'invalid-input',
        `The message with the id ${JSON.stringify(id ?? messageId)} already exists with other content. Messages can't be edited: send this one with a new id.`,
      );
    }
  }
  return added;
}

/* An imported message has no sender. */
function refuseOtherSender(
  events: ThreadState['events'],
  messageId: string,
  isSender: (principal: unknown) => boolean,
): void {
  const index = events.findLastIndex(
    (event) => event.type === 'message-added' && readMessageId(event.message) === messageId,
  );
  const [added] = index === -1 ? [] : events.slice(index, index + 1);
  if (added?.type !== 'message-added' || isSender(added.principal)) return;
  throw new HoldpointError(
    'invalid-input',
    `The message with the id ${JSON.stringify(messageId)} was sent by somebody else. Send yours with a new id.`,
  );
}

/* Without the provider options, where the id is. */
function hasSameContent(before: ModelMessage | undefined, message: ModelMessage): boolean {
  if (before?.role !== message.role) return false;
  return isEqualJson(toJson(toContentParts(before)), toJson(toContentParts(message)));
}

function toContentParts({ content }: ModelMessage): unknown {
  return typeof content === 'string' ? [{ type: 'text', text: content }] : content;
}

type Edit = Pick<ParsedInput, 'replaces' | 'by'>;

/**
 * The messages that an edit takes back, oldest first: the one recorded at its `replaces`, and those after it. None if the message was
 * withdrawn before: then it is only sent again.
 */
export function listReplacedMessages(
  { events }: Pick<ThreadState, 'events'>,
  { replaces }: Pick<Edit, 'replaces'>,
): readonly ThreadEventOf<'message-added'>[] {
  if (replaces === undefined) return [];
  const all = events.slice();
  const retracted = findRetractedMessages(all);
  const isKept = (event: ThreadEvent): event is ThreadEventOf<'message-added'> =>
    isAppMessage(event) && !retracted.has(event);
  const [first, ...later] = all.slice(replaces - 1);
  if (first === undefined || !isKept(first)) return [];
  return [first, ...later.filter(isKept)];
}

/** Throws `not-allowed` unless the sender of an edit wrote the message and all that the edit takes back, and none of it has a reply. */
export function refuseEdit(
  { threadId, head, events }: Readonly<ThreadState>,
  { replaces, by }: Edit,
  replaced: ReturnType<typeof listReplacedMessages>,
  principalId: PrincipalId,
): void {
  if (replaces === undefined) return;
  const which = `Message ${replaces} of thread ${threadId} can't be edited`;
  const [edited, ...later] = events.slice(replaces - 1);
  const isOpen =
    replaced.length <= head.unanswered.length &&
    (replaced.length === 0 || later.every(({ type }) => type !== 'step-finished'));
  if (edited === undefined || !isAppMessage(edited) || !isOpen) {
    throw new HoldpointError(
      'not-allowed',
      `${which}: only a message without a reply can be. Send a new message instead.`,
    );
  }
  const isOwn = [edited, ...replaced].every(({ principal }) =>
    isSamePrincipal(by.principal, principal, principalId),
  );
  if (isOwn) return;
  throw new HoldpointError(
    'not-allowed',
    `${which}: it, or a message after it, was sent by somebody else. Send a new message instead.`,
  );
}

/** Throws for a message while the thread is run, waits, or has a call whose outcome is unknown. */
export function refuseMessage(
  threadId: string,
  proposal: Proposal,
  whilePending: 'refuse' | 'cancel',
  now: number,
): void {
  const { head } = proposal;
  if (isRunning(head, now)) {
    throw new HoldpointError(
      'thread-busy',
      `Thread ${threadId} is being run; send the message when that run has ended.`,
    );
  }
  if (computeThreadStatus(head, now) === 'indeterminate') {
    throw new HoldpointError(
      'thread-indeterminate',
      `Thread ${threadId} has a call whose outcome is unknown; see thread.calls. Settle it with agent.settle first.`,
    );
  }
  const deferred = head.calls.filter((call) => call.status === 'deferred');
  const awaited = head.openRequests.length + deferred.length;
  const held = listHeldApprovals(proposal);
  if (held.length > 0 && whilePending !== 'cancel') {
    throw new HoldpointError(
      'requests-open',
      `Thread ${threadId} was stopped, and holds ${held.length} approval(s) that have not been used. ` +
        'Who may reject them resumes it with run([], thread, { principal, resumeStopped: true }), ' +
        "or takes them back with whilePending: 'cancel'.",
      { requestId: held[0]?.request.requestId },
    );
  }
  if (awaited > 0 && whilePending !== 'cancel') {
    throw new HoldpointError(
      'requests-open',
      `Thread ${threadId} waits for ${awaited} answer(s) or deferred result(s). ` +
        "Send the answers, deliver the results, or run with whilePending: 'cancel'.",
    );
  }
}
