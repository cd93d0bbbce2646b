import type { ApprovalRequest } from '../../content/approval.ts';
import type { CallPlace, ToolCall } from '../../content/tool-call.ts';
import { HoldpointError } from '../../errors.ts';
import { requestDigest } from '../../policy/digest.ts';

/** What a request is made with. */
export interface RequestMaking {
  threadId: string;
  /** Who sent the message that led to the request, as the app says. */
  requestedBy?: unknown;
  now: () => number;
  generateId: () => string;
}

/** What a person is asked, and for how long, in milliseconds from now. */
export interface Asked {
  text: string;
  reason?: string | undefined;
  expiresAfterMs?: number | undefined;
}

/** The call that is asked about. */
export interface AskedCall {
  toolCall: ToolCall;
  place: CallPlace;
  /** The digest of what will run it. */
  runnerDigest: string;
}

/**
 * A request for approval, bound by its digest to all it shows, and to the call and what will run it, if it is about one. Throws
 * `invalid-input` for an expiry that is no time.
 */
export async function makeRequest(
  { threadId, requestedBy, now, generateId }: RequestMaking,
  { text, reason, expiresAfterMs }: Asked,
  asked?: AskedCall,
): Promise<ApprovalRequest> {
  /* JSON would say `null` of it, and the log could not be read again. */
  if (expiresAfterMs !== undefined && !Number.isFinite(expiresAfterMs)) {
    throw new HoldpointError(
      'invalid-input',
      `expiresAfterMs must be a finite number of milliseconds; got ${expiresAfterMs}.`,
    );
  }
  const createdAt = now();
  const request: Omit<ApprovalRequest, 'digest'> = {
    type: 'approval-request',
    requestId: generateId(),
    threadId,
    /* What a rule or an app wrote may quote a model; half of a surrogate pair has no canonical text. */
    text: text.toWellFormed(),
    ...(reason === undefined ? {} : { reason: reason.toWellFormed() }),
    ...(asked === undefined ? {} : { toolCall: asked.toolCall }),
    ...(requestedBy === undefined ? {} : { requestedBy }),
    createdAt,
    ...(expiresAfterMs === undefined ? {} : { expiresAt: createdAt + expiresAfterMs }),
  };
  return { ...request, digest: await requestDigest(request, asked?.place, asked?.runnerDigest) };
}
