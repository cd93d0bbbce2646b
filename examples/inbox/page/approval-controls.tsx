interface ApprovalControlsProps {
  canApprove: boolean;
  canReject: boolean;
  onApprove: () => void;
  onReject: () => void;
  onReason: () => void;
}

/** The buttons to approve or reject. A disabled button is only marked with `aria-disabled`, so that it keeps the focus. */
export function ApprovalControls({
  canApprove,
  canReject,
  onApprove,
  onReject,
  onReason,
}: ApprovalControlsProps) {
  return (
    <div className="controls">
      <button type="button" className="yes" aria-disabled={!canApprove} onClick={onApprove}>
        Approve
      </button>
      <button type="button" className="no" aria-disabled={!canReject} onClick={() => onReject()}>
        Reject
      </button>
      <button type="button" className="quiet" aria-disabled={!canReject} onClick={onReason}>
        Reject with a reason
      </button>
    </div>
  );
}
