import { type DynamicToolUIPart, getToolName, type ToolUIPart } from 'ai';
import { z } from 'zod';
import { CallDetails } from './call-details.tsx';
import { Inert } from './inert.tsx';
import { Value } from './value.tsx';

type ToolPart = ToolUIPart | DynamicToolUIPart;

interface ToolCardProps {
  part: ToolPart;
  /** The requests whose answers are being sent. */
  sending: ReadonlySet<string>;
  onReview: (requestId: string) => void;
}

/* The part's descriptor is the request. */
const requestSchema = z.object({
  requestId: z.string(),
  type: z.enum(['approval-request', 'question-request']),
  text: z.string(),
});

/** A call in the chat: its tool, its request, its state, and its arguments on demand. */
export function ToolCard({ part, sending, onReview }: ToolCardProps) {
  const { state, input, approval } = part;
  const toolName = getToolName(part);
  const request = requestSchema.safeParse(approval?.descriptor).data;
  const isSending = request !== undefined && sending.has(request.requestId);
  return (
    <div className={`tool ${state}`}>
      <p className="tool-line">
        <span className="tool-name">
          <Inert text={toolName} />
        </span>
        <span className="tool-state">
          {isSending
            ? 'sending your answer …'
            : stateText(part, request?.type === 'question-request' ? 'answered' : 'approved')}
        </span>
        {state === 'approval-requested' && request !== undefined && !isSending && (
          <button type="button" className="review" onClick={() => onReview(request.requestId)}>
            Review
          </button>
        )}
      </p>
      {request !== undefined && (
        <p className="asked">
          <Inert text={request.text} />
        </p>
      )}
      <Trouble part={part} />
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

function stateText(part: ToolPart, yes: 'answered' | 'approved'): string {
  switch (part.state) {
    case 'input-streaming':
      return 'being written …';
    case 'input-available':
      return 'at work …';
    case 'approval-requested':
      return 'waits for you';
    case 'approval-responded':
      return part.approval.approved ? `${yes}, at work …` : 'rejected';
    case 'output-available':
      if (part.preliminary === true) return `${yes}, at work …`;
      return part.approval?.approved === true ? `${yes}, done` : 'done';
    case 'output-error':
      return 'failed';
    case 'output-denied':
      return 'rejected';
  }
}

/** Why there is no output. */
function Trouble({ part }: { part: ToolPart }) {
  const text = part.state === 'output-error' ? part.errorText : part.approval?.reason;
  return text === undefined || text === '' ? undefined : (
    <p className="trouble">
      <Inert text={text} />
    </p>
  );
}
