import { refusalWords } from '../../../content/refusal-words.ts';
import type { ApprovalRequest } from '../../../content/approval.ts';
import { inertText } from '../../../content/inert-text.ts';
import type { QuestionRequestContent } from '../../../content/question.ts';
import type { RequestRights } from '../../../content/request-rights.ts';
import { votesOfOthers } from '../../../content/vote.ts';
import { type CardFact, makeRequestCard, renderCardLines } from '../../../view/request-card.ts';
import { renderEnded } from '../../../view/state-words.ts';
import type { PageDecision } from './page-messages.ts';

/* The form shows the editable fields, and whether a reason is needed. */
const inForm: readonly CardFact['name'][] = ['editable', 'needed-reason'];

/** Makes lines, safe to show, with everything of a request except its text, call and form. */
export function describeRequest(
  request: ApprovalRequest | QuestionRequestContent,
  now: number,
): string[] {
  const { facts, ...card } = makeRequestCard(request);
  const rest = facts.filter(({ name }) => !inForm.includes(name));
  return renderCardLines({ ...card, facts: rest }, { now });
}

const afterEnd: readonly CardFact['name'][] = [
  'reason',
  'agents',
  'requesters',
  'editor',
  'change',
  'original-text',
];

/** Makes lines, safe to show, for a request that is over. */
export function describeEnded(
  request: ApprovalRequest | QuestionRequestContent,
  now: number,
): string[] {
  const { facts, ...card } = makeRequestCard(request);
  const rest = facts.filter(({ name }) => afterEnd.includes(name));
  return renderCardLines({ ...card, facts: rest }, { now });
}

/** Makes one line, safe to show: how a request was decided, by whom and why. */
export function describeWhoDecided(
  request: ApprovalRequest | QuestionRequestContent,
  { status, person, onBehalfOf }: PageDecision,
  reason: string | undefined,
): string {
  const people = person === undefined ? [] : [{ person, onBehalfOf }];
  const isShared = status === 'approved' && request.type === 'approval-request';
  const others = isShared ? votesOfOthers(request.votes ?? [], { person, onBehalfOf }) : [];
  return renderEnded({ state: status, people: [...others, ...people], reason });
}

/** Explains why a person has no buttons for a request; `undefined` if they have. */
export function describeWhyNot(
  request: ApprovalRequest | QuestionRequestContent,
  { mayAnswer, refusal }: RequestRights,
): string | undefined {
  if (mayAnswer) return undefined;
  if (refusal === 'already-voted' && request.type === 'approval-request') {
    const { votes = [], quorum = 1 } = request;
    return `You have approved; ${votes.length} of ${quorum}.`;
  }
  return refusalWords[refusal ?? 'not-approver'];
}

/** Writes a tool and its whole input as text that is safe to show. */
export function describeCall(toolName: string, input: unknown): string {
  return inertText(`${toolName} ${JSON.stringify(input, null, 2)}`);
}
