import { getToolName, isToolUIPart, type UIMessage } from 'ai';
import { z } from 'zod';
import { inertText } from '../../../content/inert-text.ts';
import { heldWords } from '../../../view/state-words.ts';
import type { PageDecision } from './page-messages.ts';
import { readRequest } from './page-requests.ts';
import type { ShownRequest } from './request-form.ts';
import {
  describeCall,
  describeWhoDecided,
  describeEnded,
  describeRequest,
} from './request-lines.ts';

type Part = UIMessage['parts'][number];

/** The view of a message part on a page. All texts are safe to show. */
export type ShownPart =
  | {
      /** A text of the model or of a person. */
      type: 'text';
      /** The text. */
      text: string;
    }
  | {
      /** A call, or a request that is not about a call of this thread. */
      type: 'call';
      /** The tool, or `Approval`. */
      name: string;
      /** The question about it, or the tool. */
      text: string;
      /** The status of the call in the AI SDK. */
      status: CallStatus;
      /** The status in words. */
      says: string;
      /** The other facts of its request, the decision with its reason, and the call's error; a line each. */
      lines: string[];
      /** The tool and the input that will run, as JSON. */
      call?: string;
      /** The open request about it, with its form. */
      request?: ShownRequest;
    };

/** The status of a call in the AI SDK. */
type CallStatus = keyof typeof statusTexts;

const statusTexts = {
  'input-streaming': 'being written …',
  'input-available': 'at work …',
  'approval-requested': 'waits for you',
  'approval-responded': 'answered, at work …',
  'output-available': 'done',
  'output-error': 'failed',
  'output-denied': 'not done',
};

/** The facts that a page has about requests, by their ids. */
interface KnownRequests {
  findOpen: (requestId: string) => ShownRequest | undefined;
  findDecision: (requestId: string) => PageDecision | undefined;
}

/** Makes the view of a part; `undefined` for nothing. */
export function showPart(
  part: Part,
  { findOpen, findDecision }: KnownRequests,
  now: number,
): ShownPart | undefined {
  if (part.type === 'text') return { type: 'text', text: inertText(part.text) };
  const asked = readRequest(part);
  if (!isToolUIPart(part) && asked === undefined) return undefined;
  /* An answer that is being sent is not in the log yet: its request is still shown as open. */
  const request = asked && findOpen(asked.requestId);
  const isOpen = request !== undefined;
  const status = isOpen ? 'approval-requested' : readStatus(part);
  const toolName = isToolUIPart(part) ? getToolName(part) : asked?.toolCall?.toolName;
  /* The request has the input that will run; the part has the one that the model proposed. */
  const proposed = isToolUIPart(part) ? part.input : undefined;
  const input = asked?.toolCall === undefined ? proposed : asked.toolCall.input;
  const isCall = toolName !== undefined && asked?.type !== 'question-request';
  const describe = (of: typeof asked): string[] =>
    of === undefined ? [] : isOpen ? describeRequest(of, now) : describeEnded(of, now);
  const ended = isOpen ? [] : describeEnd(part, asked, findDecision);
  return {
    type: 'call',
    name: inertText(toolName ?? 'Approval'),
    text: inertText(asked?.text ?? toolName ?? ''),
    status,
    says: isHeld(part) ? heldWords : describeStatus(status, request),
    lines: [...describe(asked), ...ended],
    ...(isCall && { call: describeCall(toolName, input) }),
    ...(request && { request }),
  };
}

const heldSchema = z.object({ held: z.literal(true) });

/** Checks whether a call was approved, and is on hold because the agent was stopped. */
function isHeld(part: Part): boolean {
  if (!isToolUIPart(part) || part.state !== 'output-available') return false;
  return part.preliminary === true && heldSchema.safeParse(part.output).success;
}

/** Checks whether a call in the messages is on hold because the agent was stopped. */
export function hasHeldCall(messages: readonly UIMessage[]): boolean {
  return messages.some(({ parts }) => parts.some(isHeld));
}

/* A call with a preliminary output is still running. */
function readStatus(part: Part): CallStatus {
  if (!isToolUIPart(part)) return 'approval-requested';
  const isRunning = part.state === 'output-available' && part.preliminary === true;
  return isRunning ? 'input-available' : part.state;
}

function describeStatus(status: CallStatus, request: ShownRequest | undefined): string {
  if (request?.isSending === true) return 'Sending your answer …';
  return request?.whyNot === undefined ? statusTexts[status] : 'waits for somebody else';
}

function describeEnd(
  part: Part,
  asked: ReturnType<typeof readRequest>,
  findDecision: KnownRequests['findDecision'],
): string[] {
  if (!isToolUIPart(part)) return [];
  const { approved, reason } = part.approval ?? {};
  const decision = asked && findDecision(asked.requestId);
  const isRefused = approved === false && reason !== undefined;
  const why = isRefused ? [inertText(`Not approved: ${reason}`)] : [];
  const failure = part.state === 'output-error' ? [inertText(part.errorText)] : [];
  return [...(decision ? [describeWhoDecided(asked, decision, reason)] : why), ...failure];
}
