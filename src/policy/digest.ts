import canonicalize from 'canonicalize';
import type { ApprovalRequest } from '../content/approval.ts';
import { sha256 } from '../content/sha256.ts';
import type { CallPlace } from '../content/tool-call.ts';

/** What a tool is to the model and to the person who approves its calls. Not the body of `execute`: code has no digest. */
export interface ToolIdentity {
  name: string;
  description: string | undefined;
  title: string | undefined;
  inputSchema: unknown;
  /** The app's own mark, `metadata.version`: change it when `execute` changes its meaning. */
  version: unknown;
}

/* Each digest begins with the kind of thing it is of, so that one kind can't pass for another. */

/**
 * SHA-256, base64url, over all that a request shows and binds: the request, the call and its place, and the digest of
 * what runs it: a tool's definition, or the provider's own request. Equal digests mean that the same was asked.
 */
export function requestDigest(
  request: Omit<ApprovalRequest, 'digest'>,
  place?: CallPlace,
  runnerDigest?: string,
): string | Promise<string> {
  const { type, requestId, threadId, text, reason, toolCall, createdAt, expiresAt, requestedBy } =
    request;
  const bound = [type, requestId, threadId, text, reason, createdAt, expiresAt, runnerDigest];
  const called = [place?.step, place?.index, toolCall?.toolCallId, toolCall?.toolName];
  /* The canonical text of an array (RFC 8785): that of plain values is their JSON; the input and the asker may need sorting. */
  const values = [...bound, ...called].map((value) => JSON.stringify(value ?? null));
  const input = toolCall === undefined ? 'null' : canonicalize(toolCall.input);
  const asker = requestedBy === undefined ? 'null' : canonicalize(requestedBy);
  return sha256(`holdpoint/approval-request/v1\0[${values.join(',')},${input},${asker}]`);
}

/** SHA-256, base64url, over a tool's definition. */
export function definitionDigest(identity: ToolIdentity): string | Promise<string> {
  return sha256(`holdpoint/tool-definition/v1\0${canonicalize(identity)}`);
}

/** SHA-256, base64url, over the id by which a provider asks whether it may run a call. */
export function providerApprovalDigest(approvalId: string): string | Promise<string> {
  return sha256(`holdpoint/provider-approval/v1\0${approvalId}`);
}

/** Whether two JSON values say the same: whether their canonical texts are equal. What has none equals only its very copy. */
export function equalJson(one: unknown, other: unknown): boolean {
  /* The cheap look first: an answer mostly repeats what it was shown letter by letter. */
  return JSON.stringify(one) === JSON.stringify(other) || hasEqualForms(one, other);
}

function hasEqualForms(one: unknown, other: unknown): boolean {
  try {
    return canonicalize(one) === canonicalize(other);
  } catch {
    /* Half of a surrogate pair, in what somebody wrote. */
    return false;
  }
}
