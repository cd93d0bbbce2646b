import { z } from 'zod';
import { whyNotQuestion } from '../../content/check-answer.ts';
import type {
  UserInputRequest,
  UserInputRequestContent,
  UserInputResponseContent,
} from '../../content/user-input.ts';
import { userInputRequestSchema } from '../../content/user-input.ts';
import { HoldpointError } from '../../errors.ts';
import { askApproval } from './ask-approval.ts';
import { askQuestion } from './ask-question.ts';
import { type Dialog, UnansweredError } from './dialog.ts';
import type { TerminalOptions } from './terminal-options.ts';
import { withDialog } from './with-dialog.ts';

const leftOpen = '  ✗ Left open: nothing was answered';
const dismissed = '  ✗ Dismissed: no answer was given';

type Request = UserInputRequestContent | UserInputRequest;

/** Options of `askInTerminal`. */
export interface AskOptions extends TerminalOptions {
  /**
   * What leaving a question (Ctrl+C, Ctrl+D, end of input) does: `dismiss` dismisses it if it allows that, `keep` leaves it open.
   * Default `dismiss`.
   */
  onLeave?: 'dismiss' | 'keep';
}

/**
 * Asks a person at the terminal, one request after another, and resolves to the answers, ready for `agent.run`.
 * Enter alone, a digit or a line of text never approves. A request that does not fit on the screen must be paged through (`v`)
 * before it can be approved. The answers of a form are shown for review before they are sent. Ctrl+Z suspends the process.
 *
 * Esc leaves an approval open and continues with the next request. Ctrl+C, Ctrl+D and the end of the input leave it open and
 * stop asking. They dismiss a question that allows it, unless `onLeave` is `keep`; after a dismissal by Ctrl+C the next request is
 * asked. A request that is left open has no answer in the result and can be asked again. Calls that use the same input wait
 * for each other.
 *
 * When `signal` aborts, the promise rejects with its reason and the answers given so far are lost: ask one request at a time if they can be
 * answered elsewhere as well. Throws `invalid-input` for an invalid request.
 *
 * @example
 * while (response.userInputRequests.length > 0) {
 *   const answers = await askInTerminal(response.userInputRequests);
 *   if (answers.length === 0) break;
 *   response = await agent.run(answers, thread);
 * }
 */
export async function askInTerminal(
  requests: Request | readonly Request[],
  { onLeave = 'dismiss', ...options }: AskOptions = {},
): Promise<UserInputResponseContent[]> {
  const all = parseRequests(Array.isArray(requests) ? requests : [requests]);
  return all.length === 0
    ? []
    : withDialog(options, (dialog) =>
        askAll(onLeave === 'keep' ? all.map(withoutDismissal) : all, dialog),
      );
}

/* A question that can't be dismissed stays open when the person leaves. */
function withoutDismissal(request: UserInputRequest): UserInputRequest {
  return request.type === 'question-request' ? { ...request, allowDismiss: false } : request;
}

async function askAll(
  requests: readonly UserInputRequest[],
  dialog: Dialog,
): Promise<UserInputResponseContent[]> {
  const answers: UserInputResponseContent[] = [];
  for (const [index, request] of requests.entries()) {
    const position = requests.length > 1 ? `${index + 1} of ${requests.length}` : undefined;
    const { answer, isLast } = await askOrLeave(request, dialog, position);
    if (answer !== undefined) answers.push(answer);
    if (isLast) break;
  }
  return answers;
}

interface AskResult {
  answer: UserInputResponseContent | undefined;
  /** Whether nothing else can be asked: the person has left, or the terminal is lost. */
  isLast: boolean;
}

async function askOrLeave(
  request: UserInputRequest,
  dialog: Dialog,
  position: string | undefined,
): Promise<AskResult> {
  try {
    const answer = await ask(request, dialog, position);
    if (answer === undefined) await dialog.note(leftOpen);
    return { answer, isLast: false };
  } catch (error) {
    if (!(error instanceof UnansweredError)) throw error;
    const answer = dismissal(request, error);
    if (error.reason !== 'lost') await dialog.note(answer === undefined ? leftOpen : dismissed);
    return { answer, isLast: answer === undefined || error.reason !== 'interrupted' };
  }
}

async function ask(
  request: UserInputRequest,
  dialog: Dialog,
  position: string | undefined,
): Promise<UserInputResponseContent | undefined> {
  return request.type === 'approval-request'
    ? askApproval(request, dialog, position)
    : askQuestion(request, dialog, position);
}

/* A broken terminal is not a person's decision to dismiss. */
function dismissal(
  request: UserInputRequest,
  { reason }: UnansweredError,
): UserInputResponseContent | undefined {
  if (request.type === 'approval-request' || !request.allowDismiss || reason === 'lost')
    return undefined;
  return { type: 'question-response', requestId: request.requestId, status: 'dismissed' };
}

function parseRequests(requests: readonly unknown[]): UserInputRequest[] {
  return requests.map((request) => {
    const parsed = userInputRequestSchema.safeParse(request);
    if (!parsed.success) {
      throw new HoldpointError(
        'invalid-input',
        `askInTerminal was given an invalid request: ${z.prettifyError(parsed.error)}`,
      );
    }
    const { data } = parsed;
    const fault = data.type === 'question-request' ? whyNotQuestion(data) : undefined;
    if (fault === undefined) return data;
    throw new HoldpointError(
      'invalid-input',
      `Request ${data.requestId} can't be asked: ${fault}.`,
    );
  });
}
