import { type DynamicToolUIPart, getToolName, type ToolUIPart } from 'ai';
import { CallDetails } from './call-details.tsx';
import { Inert } from './inert.tsx';
import { Value } from './value.tsx';

interface ToolCardProps {
  part: ToolUIPart | DynamicToolUIPart;
  onReview: (requestId: string) => void;
}

/** A call in the chat: its tool, how far it is, and its arguments for who wants to see them. */
export function ToolCard({ part, onReview }: ToolCardProps) {
  const { state, input } = part;
  const toolName = getToolName(part);
  const isWaiting = state === 'approval-requested';
  return (
    <div className={`tool ${state}`}>
      <p className="tool-line">
        <span className="tool-name">
          <Inert text={toolName} />
        </span>
        <span className="tool-state">{sayState(part)}</span>
        {isWaiting && (
          <button type="button" className="review" onClick={() => onReview(part.approval.id)}>
            Review
          </button>
        )}
      </p>
      {(state === 'output-error' || state === 'output-denied') && <Trouble part={part} />}
      {input !== undefined && (
        <details>
          <summary>Details</summary>
          <CallDetails call={{ toolName, input }} />
          {state === 'output-available' && (
            <>
              <p className="label">Result</p>
              <Value value={part.output} />
            </>
          )}
        </details>
      )}
    </div>
  );
}

function sayState({ state, approval }: ToolCardProps['part']): string {
  switch (state) {
    case 'input-streaming':
      return 'being written …';
    case 'input-available':
      return 'at work …';
    case 'approval-requested':
      return 'waits for you';
    case 'approval-responded':
      return approval.approved ? 'approved, at work …' : 'rejected';
    case 'output-available':
      return approval?.approved ? 'approved, done' : 'done';
    case 'output-error':
      return 'failed';
    case 'output-denied':
      return 'rejected';
  }
}

function Trouble({ part }: { part: ToolCardProps['part'] }) {
  const text = part.state === 'output-error' ? part.errorText : part.approval?.reason;
  return text === undefined || text === '' ? undefined : (
    <p className="trouble">
      <Inert text={text} />
    </p>
  );
}
