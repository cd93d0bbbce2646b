import type { ApprovalRequest } from '../../content/approval.ts';
import type { CallPlace, ToolCall } from '../../content/tool-call.ts';
import { HoldpointError } from '../../errors.ts';
import { providerApprovalDigest, requestDigest } from '../../policy/digest.ts';

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

/** What will run a call: what an approval of it is bound to, beside the call itself. */
export interface Runner {
  /** What is asked where nobody says otherwise. */
  text: string;
  digest: string;
}

/** The provider, which asks by this id. */
export async function providerRunner(toolName: string, approvalId: string): Promise<Runner> {
  return {
    text: `The agent wants to call ${toolName}, which the provider runs.`,
    digest: await providerApprovalDigest(approvalId),
  };
}

/** The request for the approval of a call. */
export async function askAbout(
  input: RequestMaking,
  asked: Partial<Asked>,
  { toolCall, place, runner }: { toolCall: ToolCall; place: CallPlace; runner: Runner },
): Promise<ApprovalRequest> {
  const { text, digest } = runner;
  return makeRequest(input, { text, ...asked }, { toolCall, place, runnerDigest: digest });
}
