import type { ApprovalRequest } from './approval.ts';
import { inertLine } from './inert-text.ts';

/** Lines that are safe to show: what an approval request demands, how far it is, and what was edited. */
export function termLines(request: ApprovalRequest): string[] {
  const { risk, approvers, notRequester, requireReason } = request;
  return [
    ...editLines(request),
    ...(risk === undefined ? [] : [`Risk: ${risk}`]),
    ...(approvers === undefined ? [] : [`Can be answered by: ${namesLine(approvers)}`]),
    ...(notRequester === undefined ? [] : ['The person who asked for it may not answer.']),
    ...(requireReason === undefined ? [] : ['An approval needs a reason.']),
    ...voteLines(request),
    ...expiryLines(request),
  ];
}

function editLines({ edit, toolCall }: ApprovalRequest): string[] {
  if (edit === undefined) return [];
  const who = edit.person === undefined ? 'Edited' : `Edited by ${inertLine(edit.person)}`;
  return [`${who}; the agent asked for: ${inertLine(JSON.stringify(toolCall?.input))}`];
}

function voteLines({ quorum = 1, votes = [], reassignments = [] }: ApprovalRequest): string[] {
  const people = votes.map(({ person }) => person);
  const by = people.length === 0 ? '' : ` (${namesLine(people)})`;
  return [
    ...(quorum > 1 ? [`Approvals so far: ${votes.length} of ${quorum}${by}`] : []),
    ...reassignments.map(({ from, to }) => `Reassigned by ${inertLine(from)} to ${inertLine(to)}`),
  ];
}

function expiryLines({ onExpiry }: ApprovalRequest): string[] {
  if (onExpiry?.type === 'ask-again') return ['If it expires, it is asked again.'];
  if (onExpiry?.type !== 'escalate') return [];
  return [`If it expires, it is escalated to: ${namesLine(onExpiry.approvers)}`];
}

function namesLine(names: readonly string[]): string {
  return names.map(inertLine).join(', ');
}
