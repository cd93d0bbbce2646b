import type { ApprovalRequest } from '../../content/approval.ts';
import type { CallPlace, ToolCall } from '../../content/tool-call.ts';
import { HoldpointError } from '../../errors.ts';
import { providerApprovalDigest, requestDigest } from '../../policy/digest.ts';

/** The inputs of every new request. */
export interface RequestMaking {
  threadId: string;
  /** Who sent the message that led to the request, as authenticated by the app. */
  requestedBy?: unknown;
  now: () => number;
  generateId: () => string;
}

/** What a person is asked; `expiresAfterMs` in milliseconds from now. */
export interface Asked {
  /** The app's key of the request; checked. */
  key?: string | undefined;
  text: string;
  reason?: string | undefined;
  expiresAfterMs?: number | undefined;
}

/** The call that is asked about. */
export interface AskedCall {
  toolCall: ToolCall;
  place: CallPlace;
  /** The digest of what will run the call. */
  runnerDigest: string;
}

/**
 * Makes an approval request. Its digest covers all that it shows, and for a call, the call and what will run it. Throws `invalid-input`
 * for an invalid expiry.
 */
export async function makeRequest(
  { threadId, requestedBy, now, generateId }: RequestMaking,
  { key, text, reason, expiresAfterMs }: Asked,
  asked?: AskedCall,
): Promise<ApprovalRequest> {
  /* JSON would turn it into `null`, and the log would be unreadable. */
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
    ...(key === undefined ? {} : { key }),
    /* The text may quote a model, and an unpaired surrogate has no canonical form. */
    text: text.toWellFormed(),
    ...(reason === undefined ? {} : { reason: reason.toWellFormed() }),
    ...(asked === undefined ? {} : { toolCall: asked.toolCall }),
    ...(requestedBy === undefined ? {} : { requestedBy }),
    createdAt,
    ...(expiresAfterMs === undefined ? {} : { expiresAt: createdAt + expiresAfterMs }),
  };
  return { ...request, digest: await requestDigest(request, asked?.place, asked?.runnerDigest) };
}

/** What will run a call. An approval is bound to it, as well as to the call. */
export interface Runner {
  /** The default text. */
  text: string;
  digest: string;
}

/** The provider, whose request has this id. */
export async function providerRunner(toolName: string, approvalId: string): Promise<Runner> {
  return {
    text: `The agent wants to call ${toolName}, which the provider runs.`,
    digest: await providerApprovalDigest(approvalId),
  };
}

/** Makes the approval request for a call. */
export async function askAbout(
  input: RequestMaking,
  asked: Partial<Asked>,
  { toolCall, place, runner }: { toolCall: ToolCall; place: CallPlace; runner: Runner },
): Promise<ApprovalRequest> {
  const { text, digest } = runner;
  return makeRequest(input, { text, ...asked }, { toolCall, place, runnerDigest: digest });
}
