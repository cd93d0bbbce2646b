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
import { Departure } from './departure.ts';
import type { Dialog } from './dialog.ts';
import type { TerminalOptions } from './terminal-options.ts';
import { withDialog } from './with-dialog.ts';

const leftOpen = '  ✗ Left open: nothing was answered';
const dismissed = '  ✗ Dismissed: no answer was given';

type Request = UserInputRequestContent | UserInputRequest;

/** How requests are asked. */
export interface AskOptions extends TerminalOptions {
  /** Whether leaving a question (Ctrl+C, Ctrl+D, the end of the input) dismisses it where it may, or keeps it open. Default `dismiss`. */
  onLeave?: 'dismiss' | 'keep';
}

/**
 * Asks a person at the terminal, one request after another, and resolves to the answers, ready for `agent.run`.
 * Enter alone never approves, nor does a digit or a line of text; what has no room on the screen must be paged through (`v`)
 * before it can be approved. The answers of a form are shown once more before they are sent. Ctrl+Z suspends.
 *
 * Esc leaves an approval open and goes on to the next; Ctrl+C, Ctrl+D and the end of the input leave it open and end the asking.
 * A question that may be dismissed is dismissed by these, unless `onLeave`
 * says `keep`; only when Ctrl+C has dismissed it is the next one asked. What is left open has no answer here and can be asked again.
 * Who asks at an input that is in use waits for their turn.
 *
 * With an aborted `signal` it rejects with the signal's reason, and the answers given so far are lost: for requests
 * that may be answered elsewhere meanwhile, ask one at a time.
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
    : withDialog(options, (dialog) => askAll(onLeave === 'keep' ? all.map(kept) : all, dialog));
}

/* For whoever asks, a question that may not be dismissed is one that stays open. */
function kept(request: UserInputRequest): UserInputRequest {
  return request.type === 'question-request' ? { ...request, allowDismiss: false } : request;
}

async function askAll(
  requests: readonly UserInputRequest[],
  dialog: Dialog,
): Promise<UserInputResponseContent[]> {
  const answers: UserInputResponseContent[] = [];
  for (const [index, request] of requests.entries()) {
    const place = requests.length > 1 ? `${index + 1} of ${requests.length}` : undefined;
    const { answer, isLast } = await askOrLeave(request, dialog, place);
    if (answer !== undefined) answers.push(answer);
    if (isLast) break;
  }
  return answers;
}

interface Asked {
  answer: UserInputResponseContent | undefined;
  /** Whether the person, or the terminal, is gone. */
  isLast: boolean;
}

async function askOrLeave(
  request: UserInputRequest,
  dialog: Dialog,
  place: string | undefined,
): Promise<Asked> {
  try {
    const answer = await ask(request, dialog, place);
    if (answer === undefined) await dialog.note(leftOpen);
    return { answer, isLast: false };
  } catch (error) {
    if (!(error instanceof Departure)) throw error;
    const answer = dismissal(request, error);
    if (error.how !== 'lost') await dialog.note(answer === undefined ? leftOpen : dismissed);
    return { answer, isLast: answer === undefined || error.how !== 'interrupted' };
  }
}

async function ask(
  request: UserInputRequest,
  dialog: Dialog,
  place: string | undefined,
): Promise<UserInputResponseContent | undefined> {
  return request.type === 'approval-request'
    ? askApproval(request, dialog, place)
    : askQuestion(request, dialog, place);
}

/* A terminal that breaks says nothing in anybody's name. */
function dismissal(
  request: UserInputRequest,
  { how }: Departure,
): UserInputResponseContent | undefined {
  if (request.type === 'approval-request' || !request.allowDismiss || how === 'lost')
    return undefined;
  return { type: 'question-response', requestId: request.requestId, status: 'dismissed' };
}

function parseRequests(requests: readonly unknown[]): UserInputRequest[] {
  return requests.map((request) => {
    const parsed = userInputRequestSchema.safeParse(request);
    if (!parsed.success) {
      throw new HoldpointError(
        'invalid-input',
        `No request to ask: ${z.prettifyError(parsed.error)}`,
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
