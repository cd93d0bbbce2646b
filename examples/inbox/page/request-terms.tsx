import type { ApprovalRequest } from 'holdpoint';
import { Inert } from './inert.tsx';

/** How risky a call is, who may answer, and who has approved so far; nothing for a request that anybody may answer alone. */
export function RequestTerms({ request }: { request: ApprovalRequest }) {
  const { risk, approvers, quorum, votes = [] } = request;
  const lines = [
    ...(risk === undefined ? [] : [`Risk: ${risk}`]),
    ...(approvers === undefined ? [] : [`May be answered by: ${approvers.join(', ')}`]),
    ...(quorum === undefined
      ? []
      : [`Approvals: ${votes.length} of ${quorum} (${namesOf(votes)})`]),
  ];
  return (
    <>
      {lines.map((line) => (
        <p key={line} className="why">
          <Inert text={line} />
        </p>
      ))}
    </>
  );
}

function namesOf(votes: NonNullable<ApprovalRequest['votes']>): string {
  return votes.length === 0 ? 'none yet' : votes.map(({ person }) => person).join(', ');
}
