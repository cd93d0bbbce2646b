import { getToolName, isToolUIPart, type UIMessage } from 'ai';
import { z } from 'zod';
import { inertText } from '../../../content/inert-text.ts';
import { describeCall } from './approval-form.ts';
import type { PageDecision } from './page-messages.ts';
import { readRequest } from './page-requests.ts';
import type { ShownRequest } from './request-form.ts';
import { describeWhoDecided, describeEnded, describeRequest } from './request-lines.ts';

type Part = UIMessage['parts'][number];

/** What a page shows of a part of a message. All texts are safe to show. */
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
      /** How far the call is, as the AI SDK has it. */
      status: CallStatus;
      /** The status in words. */
      says: string;
      /** What its request says besides, who decided and why, and why the call failed; a line each. */
      lines: string[];
      /** The tool and the input that will run, as JSON. */
      call?: string;
      /** The open request about it, with its form. */
      request?: ShownRequest;
    };

/** How far a call is, as the AI SDK has it. */
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

const heldText = 'approved, and held since the assistant was stopped';

/** What a page knows of requests, by their ids. */
interface KnownRequests {
  findOpen: (requestId: string) => ShownRequest | undefined;
  findDecision: (requestId: string) => PageDecision | undefined;
}

/** What to show of a part; `undefined` for nothing. */
export function showPart(
  part: Part,
  { findOpen, findDecision }: KnownRequests,
  now: number,
): ShownPart | undefined {
  if (part.type === 'text') return { type: 'text', text: inertText(part.text) };
  const asked = readRequest(part);
  if (!isToolUIPart(part) && asked === undefined) return undefined;
  /* What is being sent is still open: an answer that is not in the log is not shown as given. */
  const request = asked && findOpen(asked.requestId);
  const isOpen = request !== undefined;
  const status = isOpen ? 'approval-requested' : readStatus(part);
  const toolName = isToolUIPart(part) ? getToolName(part) : asked?.toolCall?.toolName;
  /* The request has the input that will run; the part has what the model asked for. */
  const proposed = isToolUIPart(part) ? part.input : undefined;
  const input = asked?.toolCall === undefined ? proposed : asked.toolCall.input;
  const isCall = toolName !== undefined && asked?.type !== 'question-request';
  const describe = (of: typeof asked): string[] =>
    of === undefined ? [] : isOpen ? describeRequest(of, now) : describeEnded(of);
  const ended = isOpen ? [] : describeEnd(part, asked, findDecision);
  return {
    type: 'call',
    name: inertText(toolName ?? 'Approval'),
    text: inertText(asked?.text ?? toolName ?? ''),
    status,
    says: isHeld(part) ? heldText : describeStatus(status, request),
    lines: [...describe(asked), ...ended],
    ...(isCall && { call: describeCall(toolName, input) }),
    ...(request && { request }),
  };
}

const heldSchema = z.object({ held: z.literal(true) });

/** Whether a call was approved, and is held since the agent was stopped. */
function isHeld(part: Part): boolean {
  if (!isToolUIPart(part) || part.state !== 'output-available') return false;
  return part.preliminary === true && heldSchema.safeParse(part.output).success;
}

/** Whether a call in the messages is held since the agent was stopped. */
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
