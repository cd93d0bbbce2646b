import { z } from 'zod';
import { renderSchemaError } from '../json/field-fault.ts';
import { parseBase64url } from '../json/base64.ts';
import {
  findSingleField,
  type QuestionRequestContent,
  type QuestionResponseContent,
} from '../content/question.ts';
import { HoldpointError } from '../errors.ts';

/** An option that the user can click. */
interface InteractionOption {
  /** The id that the answer names. */
  id: string;
  /** The text that the user sees. */
  label: string;
  /** A longer text beside the label. */
  description?: string;
}

/** A question in the format that front ends of interactions receive. Unset fields are omitted. */
export interface InteractionRequest {
  /** The id of the question: the `requestId`. */
  interaction_id: string;
  /** True if it asks for yes or no, or for a choice. */
  kind: 'Confirmation' | 'Question';
  /** The question, for people. */
  question: string;
  /** The options to pick from. */
  options: InteractionOption[];
  /** True if a text may be typed. */
  allow_free_text: boolean;
  /** True if the person may cancel. */
  allow_cancel: boolean;
  /** The option that is selected at first. */
  default_option_id?: string;
  /** The time in which it can be answered, in milliseconds. */
  timeout_ms?: number;
  /** The thread that waits for the answer. */
  continuation_id?: string;
  /** The node that asks. */
  source_node?: string;
  /** JSON of the app. */
  metadata?: Record<string, unknown>;
}

const responseSchema = z.strictObject({
  interaction_id: z.string(),
  selected_option_id: z.string().nullish(),
  free_text: z.string().nullish(),
  confirmed: z.boolean().nullish(),
  cancelled: z.boolean().default(false),
  metadata: z.unknown().optional(),
});

/** An answer in the format that front ends of interactions send. */
export interface InteractionResponse {
  /** The id of the question: the `requestId`. */
  interaction_id: string;
  /** The option that was picked. */
  selected_option_id?: string;
  /** The text that was typed. */
  free_text?: string;
  /** True if the user chose `yes`, for a confirmation. */
  confirmed?: boolean;
  /** True if the person gave no answer. */
  cancelled: boolean;
  /** JSON of the app. */
  metadata?: unknown;
}

/* The metadata keys that are fields of an `InteractionRequest`. */
const metadataSchema = z.looseObject({
  continuation_id: z.string().optional(),
  source_node: z.string().optional(),
  timeout_ms: z.number().optional(),
});

/**
 * The `interaction_id` of a request: a UUID of version 8 (RFC 9562) with the bits of the request id, except for the six bits of version
 * and variant. Always the same for a request. An id from the app's `generateId` that does not have 128 bits in base64url is kept.
 */
export function interactionIdOf({ requestId }: Pick<QuestionRequestContent, 'requestId'>): string {
  const bytes = parseBase64url(requestId);
  if (bytes?.length !== 16) return requestId;
  const hex = Array.from(bytes, (byte, index) =>
    makeUuidByte(byte, index).toString(16).padStart(2, '0'),
  );
  return hex.join('').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

/** Checks whether an interaction's id, or the request's own, is that of a request. */
export function hasInteractionId(request: { requestId: string }, id: string | undefined): boolean {
  return request.requestId === id || interactionIdOf(request) === id;
}

function makeUuidByte(byte: number, index: number): number {
  if (index === 6) return 0x80 | (byte & 0x0f);
  return index === 8 ? 0x80 | (byte & 0x3f) : byte;
}

/**
 * Converts a question with one field to an `InteractionRequest`. Throws `invalid-input` for a question that doesn't fit this format: with
 * several fields, several selections, or no free text.
 */
export function toInteractionRequest(request: QuestionRequestContent): InteractionRequest {
  const field = findSingleField(request);
  const isTyped =
    field?.freeText === 'only' ? field.options.length === 0 : field?.freeText === 'optional';
  const parsed = metadataSchema.safeParse(request.metadata ?? {});
  if (field === undefined || !isTyped || !parsed.success) {
    throw new HoldpointError(
      'invalid-input',
      `Question ${request.requestId} doesn't fit the format of an InteractionRequest. Show its fields in another way.`,
    );
  }
  const { continuation_id, source_node, timeout_ms, ...metadata } = parsed.data;
  return omitAbsent({
    interaction_id: interactionIdOf(request),
    kind: request.kind === 'confirmation' ? 'Confirmation' : 'Question',
    question: request.text,
    options: field.options.map((option) => ({ ...option })),
    allow_free_text: true,
    allow_cancel: request.allowDismiss,
    default_option_id: field.preselected?.[0],
    timeout_ms,
    continuation_id,
    source_node,
    metadata: Object.keys(metadata).length === 0 ? undefined : metadata,
  });
}

/** Converts an answer to an `InteractionResponse`. Only the option `yes` confirms; text never does. */
export function toInteractionResponse(
  request: QuestionRequestContent,
  response: QuestionResponseContent,
): InteractionResponse {
  const interaction_id = interactionIdOf(request);
  const { metadata } = response;
  if (response.status === 'dismissed')
    return omitAbsent({ interaction_id, cancelled: true, metadata });
  const [answer, ...others] = response.answers;
  const [selected, ...more] = answer?.optionIds ?? [];
  if (others.length > 0 || more.length > 0)
    throw makeAnswerError(request, 'it selects several options.');
  return omitAbsent({
    interaction_id,
    selected_option_id: selected,
    free_text: answer?.text,
    confirmed: request.kind === 'confirmation' ? selected === 'yes' : undefined,
    cancelled: false,
    metadata,
  });
}

/**
 * Converts an `InteractionResponse`, with names in snake case or camel case, to an answer for `agent.run`. Throws `invalid-answer` for an
 * invalid response, a response to another request, and a contradictory one.
 */
export function fromInteractionResponse(
  request: QuestionRequestContent,
  response: unknown,
): QuestionResponseContent {
  const parsed = responseSchema.safeParse(toSnakeCase(response));
  if (!parsed.success) throw makeAnswerError(request, renderSchemaError(parsed.error));
  const { interaction_id, selected_option_id, free_text, confirmed, cancelled, metadata } =
    parsed.data;
  if (!hasInteractionId(request, interaction_id)) {
    throw makeAnswerError(request, `it is for interaction ${interaction_id}.`);
  }
  const selected = selected_option_id ?? findImpliedOption(request, confirmed, free_text);
  const base = {
    type: 'question-response',
    requestId: request.requestId,
    ...(metadata === undefined ? {} : { metadata }),
  } as const;
  const hasAnswer = selected !== undefined || (free_text ?? undefined) !== undefined;
  if (cancelled && (hasAnswer || confirmed === true)) {
    throw makeAnswerError(request, 'it is cancelled but has an answer.');
  }
  if (cancelled) return { ...base, status: 'dismissed' };
  if (typeof confirmed === 'boolean' && confirmed !== (selected === 'yes')) {
    throw makeAnswerError(request, `confirmed is ${confirmed}, which contradicts its selection.`);
  }
  const answer = {
    key: request.fields[0]?.key ?? '',
    optionIds: selected === undefined ? [] : [selected],
    ...(typeof free_text === 'string' ? { text: free_text } : {}),
  };
  return { ...base, status: 'answered', answers: [answer] };
}

/* A front end with its own yes and no buttons may send only `confirmed`. */
function findImpliedOption(
  { kind }: QuestionRequestContent,
  confirmed: boolean | null | undefined,
  text: string | null | undefined,
): string | undefined {
  if (kind !== 'confirmation' || typeof confirmed !== 'boolean') return undefined;
  if (confirmed) return 'yes';
  return typeof text === 'string' ? undefined : 'no';
}

function toSnakeCase(response: unknown): unknown {
  if (typeof response !== 'object' || response === null) return response;
  const names = Object.entries(response).map(([name, value]): [string, unknown] => [
    name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    value,
  ]);
  return new Set(names.map(([name]) => name)).size < names.length
    ? undefined
    : Object.fromEntries(names);
}

/** The error for a response that is not a valid answer to a question. */
export function makeAnswerError({ requestId }: { requestId: string }, why: string): HoldpointError {
  const message = `Not a valid answer to question ${requestId}: ${why}`;
  return new HoldpointError('invalid-answer', message, { requestId });
}

function omitAbsent<OBJECT extends object>(object: OBJECT): OBJECT {
  const present = { ...object };
  for (const [key, value] of Object.entries(present)) {
    if (value === undefined) Reflect.deleteProperty(present, key);
  }
  return present;
}
