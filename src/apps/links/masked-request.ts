import type { Agent } from '../../agent.ts';
import { hashText } from '../../content/crypto.ts';
import { stringifySorted } from '../../json/json-value.ts';
import { omitUnanswered } from '../../content/request-history.ts';
import type { UserInputRequest } from '../../content/user-input.ts';
import { readSecrets } from '../../view/call-secrets.ts';
import type { ToolFormats } from '../../view/field-format.ts';
import { maskRequest } from '../../view/mask-secrets.ts';

/** A request as a link shows it. */
export interface MaskedRequest {
  /** Without secrets. */
  request: UserInputRequest;
  /** The number of masked arguments. */
  masked: number;
  /** The digest of what is shown. */
  digest: string;
}

/** Makes the part of a request that a link shows. The agent of its thread knows the schema of the call's tool. */
export async function makeMaskedRequest(
  agent: Pick<Agent, 'thread'>,
  asked: UserInputRequest,
  formats: ToolFormats | undefined,
): Promise<MaskedRequest> {
  const { secrets } = await readSecrets(agent, asked, formats);
  const { value: request, masked } = maskRequest(asked, secrets, '');
  const isWhole = masked.length === 0;
  const digest = await digestShown(isWhole ? asked : request, isWhole);
  return { request: isWhole ? asked : request, masked: masked.length, digest };
}

/*
 * An approval has its own digest, which changes with each edit of the call. It would let a secret be guessed by trial, as everything else
 * that it covers is known.
 */
async function digestShown(request: UserInputRequest, isWhole: boolean): Promise<string> {
  if (request.type === 'approval-request') {
    if (isWhole) return request.digest;
    return hashText(`holdpoint/link-approval/v1\0${stringifySorted(omitUnanswered(request))}`);
  }
  const { kind, text, fields, allowDismiss, dismissAnswer, toolCall } = request;
  const shown = [kind, text, fields.map(listShown), allowDismiss, dismissAnswer, toolCall];
  return hashText(`holdpoint/link-question/v1\0${JSON.stringify(shown)}`);
}

/* In a fixed order: the order of an object's keys depends on its origin. */
function listShown({
  key,
  label,
  options,
  min,
  max,
  freeText,
  schema,
  required,
}: (UserInputRequest & { type: 'question-request' })['fields'][number]): unknown[] {
  const offered = options.map(({ id, label: text, description, declines }) => [
    id,
    text,
    description,
    ...(declines === undefined ? [] : [declines]),
  ]);
  const typed = [stringifySorted(schema ?? {}), required ?? true];
  const isTyped = (schema ?? required) !== undefined;
  return [key, label, offered, min, max, freeText, ...(isTyped ? typed : [])];
}
