import canonicalize from 'canonicalize';
import { type ApprovalRequest, undoEdit } from '../content/approval.ts';
import { type ApprovalTerms, noTerms, pickTerms } from '../content/approval-terms.ts';
import { copyPlain } from '../json/json-value.ts';
import { hashText } from '../content/crypto.ts';
import type { CallPlace } from '../content/tool-call.ts';

/** The part of a tool that the model, and a person who approves a call, see. It does not cover the code of `execute`. */
interface ToolIdentity {
  name: string;
  description: string | undefined;
  title: string | undefined;
  /** The tool's `metadata.version`. Apps change it when they change what `execute` does. */
  version: unknown;
  /** The tool's `metadata.annotations`: the claims of an MCP server about its tool. Absent in the digest of a tool without them. */
  annotations?: unknown;
}

/* Each digest begins with its kind, so that one kind can't pass for another. */

/**
 * The digest of an approval request: SHA-256, as base64url, of everything that the request shows, the place of its call, and the digest of
 * what runs the call, which is the tool's definition or the provider's request.
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
  /* The canonical text of an array (RFC 8785). For plain values that is their JSON; the keys of the input and the requester are sorted. */
  const values = JSON.stringify([...bound, ...called]).slice('['.length, -']'.length);
  const input = toolCall === undefined ? 'null' : canonicalize(toolCall.input);
  const requester = requestedBy === undefined ? 'null' : canonicalize(requestedBy);
  /* Most requests have neither. */
  const { key, path } = request;
  const more = (key ?? path) === undefined ? '' : `,${canonicalize([key ?? null, path ?? null])}`;
  return hashText(
    `holdpoint/approval-request/v1\0[${values},${input},${requester}${more}${canonicalizePolicy(request)}]`,
  );
}

/* An object, whereas the part before it is an array. Most requests have none of it. */
function canonicalizePolicy(request: Omit<ApprovalRequest, 'digest'>): string {
  const { onExpiry, remindAt, follows, requesters, inputSchema } = request;
  const terms = pickTerms(request);
  const hasMore = (onExpiry ?? remindAt ?? follows ?? requesters ?? inputSchema) !== undefined;
  if (terms === noTerms && !hasMore) return '';
  const more = { onExpiry, remindAt, follows, requesters, inputSchema };
  return `,${canonicalize(copyPlain({ ...terms, ...more }))}`;
}

/**
 * The digest of a request whose input a person has edited: SHA-256, as base64url, of the digest of the request, the edited input, and the
 * text about it.
 */
export function editDigest(
  requested: string,
  { input, text }: { input: unknown; text: string },
): string | Promise<string> {
  return hashText(`holdpoint/approval-edit/v1\0${requested}${canonicalize([input, text])}`);
}

/** The digest of a request as it is shown: as it was asked, or edited. */
export async function digestShown(
  request: ApprovalRequest,
  place: CallPlace | undefined,
  runnerDigest: string,
): Promise<string> {
  const { edit, toolCall, text } = request;
  if (edit === undefined) return requestDigest(request, place, runnerDigest);
  const requested = await requestDigest(undoEdit(request), place, runnerDigest);
  return editDigest(requested, { input: toolCall?.input, text });
}

/**
 * Computes the digest of what a request's terms demand of its answer and of later calls: SHA-256, as base64url. Whether people may edit the
 * input is no such demand, and depends on the input.
 */
export function digestTerms(request: ApprovalTerms): string | Promise<string> {
  const terms = { ...pickTerms(request), editable: undefined };
  return hashText(`holdpoint/approval-terms/v1\0${canonicalize(terms)}`);
}

/** The digest of a tool's definition: SHA-256, as base64url. `inputSchema` is the canonical text of its JSON Schema. */
export function digestDefinition(
  { name, description, title, version, annotations }: ToolIdentity,
  inputSchema: string,
): string | Promise<string> {
  /* The canonical text of the whole definition (RFC 8785): its keys are sorted, and those that are `undefined` left out. */
  const values = [
    ['annotations', canonicalize(annotations)],
    ['description', canonicalize(description)],
    ['inputSchema', inputSchema],
    ['name', canonicalize(name)],
    ['title', canonicalize(title)],
    ['version', canonicalize(version)],
  ];
  const fields = values.flatMap(([key, text]) => (text === undefined ? [] : `"${key}":${text}`));
  return hashText(`holdpoint/tool-definition/v1\0{${fields.join(',')}}`);
}

/** The digest of a provider's approval request: SHA-256 of its id, as base64url. */
export function digestProviderApproval(approvalId: string): string | Promise<string> {
  return hashText(`holdpoint/provider-approval/v1\0${approvalId}`);
}

/** Writes the canonical text of a JSON value (RFC 8785): equal for equal values, in any order of their keys. */
export function toCanonicalText(value: unknown): string {
  return canonicalize(value) ?? 'null';
}

/** Checks whether two JSON values are equal, in any order of their keys. Values without a canonical text must be equal as JSON text. */
export function isEqualJson(one: unknown, other: unknown): boolean {
  /* The fast comparisons first: a request has the input of its call, and an answer usually repeats exactly what it was shown. */
  const isSame = one === other || JSON.stringify(one) === JSON.stringify(other);
  return isSame || hasEqualForms(one, other);
}

function hasEqualForms(one: unknown, other: unknown): boolean {
  try {
    return canonicalize(one) === canonicalize(other);
  } catch {
    /* Half of a surrogate pair has no canonical text. */
    return false;
  }
}
