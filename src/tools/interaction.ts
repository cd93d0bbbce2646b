import { z } from 'zod';
import { fromBase64url } from '../content/base64.ts';
import type { QuestionRequestContent, QuestionResponseContent } from '../content/question.ts';
import { HoldpointError } from '../errors.ts';

/** Something to click. */
export interface InteractionOption {
  id: string;
  label: string;
  description?: string;
}

/** A question as front ends of interactions get it. What is not set is left out. */
export interface InteractionRequest {
  interaction_id: string;
  kind: 'Confirmation' | 'Question';
  question: string;
  options: InteractionOption[];
  allow_free_text: boolean;
  allow_cancel: boolean;
  default_option_id?: string;
  timeout_ms?: number;
  continuation_id?: string;
  source_node?: string;
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

/** An answer as front ends of interactions send it. */
export interface InteractionResponse {
  interaction_id: string;
  selected_option_id?: string;
  free_text?: string;
  /** Of a confirmation: whether it was a clear yes. */
  confirmed?: boolean;
  cancelled: boolean;
  metadata?: unknown;
}

/* What of the metadata has a place of its own in an `InteractionRequest`. */
const metadataSchema = z.looseObject({
  continuation_id: z.string().optional(),
  source_node: z.string().optional(),
  timeout_ms: z.number().optional(),
});

/**
 * The `interaction_id` of a request, a UUID of version 8 (RFC 9562): the bits of our own id, but for the six that say so.
 * Always the same for a request. An id that the app's own `generateId` made in another form stays as it is.
 */
export function interactionIdOf({ requestId }: { requestId: string }): string {
  const bytes = fromBase64url(requestId);
  if (bytes?.length !== 16) return requestId;
  const hex = Array.from(bytes, (byte, index) =>
    uuidByte(byte, index).toString(16).padStart(2, '0'),
  );
  return hex.join('').replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

function uuidByte(byte: number, index: number): number {
  if (index === 6) return 0x80 | (byte & 0x0f);
  return index === 8 ? 0x80 | (byte & 0x3f) : byte;
}

/**
 * A question of one field as an `InteractionRequest`. Throws `invalid-input` for one that its shape can't hold: several
 * fields, several picks, or no free text.
 */
export function toInteractionRequest(request: QuestionRequestContent): InteractionRequest {
  const [field, ...more] = request.fields;
  const fits = field !== undefined && more.length === 0 && field.max <= 1;
  const isTyped =
    field?.freeText === 'only' ? field.options.length === 0 : field?.freeText === 'optional';
  const parsed = metadataSchema.safeParse(request.metadata ?? {});
  if (!fits || !isTyped || !parsed.success) {
    throw new HoldpointError(
      'invalid-input',
      `Question ${request.requestId} can't be said in the shape of an InteractionRequest.`,
    );
  }
  const { continuation_id, source_node, timeout_ms, ...metadata } = parsed.data;
  return withoutAbsent({
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

/** An answer as an `InteractionResponse`. Only the option `yes` confirms; text never does. */
export function toInteractionResponse(
  request: QuestionRequestContent,
  response: QuestionResponseContent,
): InteractionResponse {
  const interaction_id = interactionIdOf(request);
  const { metadata } = response;
  if (response.status === 'dismissed')
    return withoutAbsent({ interaction_id, cancelled: true, metadata });
  const [answer, ...others] = response.answers;
  const [selected, ...more] = answer?.optionIds ?? [];
  if (others.length > 0 || more.length > 0) throw noAnswer(request, 'it picks several.');
  return withoutAbsent({
    interaction_id,
    selected_option_id: selected,
    free_text: answer?.text,
    confirmed: request.kind === 'confirmation' ? selected === 'yes' : undefined,
    cancelled: false,
    metadata,
  });
}

/**
 * The answer in an `InteractionResponse`, with its names in snake or in camel case, for `agent.run`. Throws
 * `invalid-answer` for what is none, for another request's, and for one that contradicts itself.
 */
export function fromInteractionResponse(
  request: QuestionRequestContent,
  response: unknown,
): QuestionResponseContent {
  const parsed = responseSchema.safeParse(inSnakeCase(response));
  if (!parsed.success) throw noAnswer(request, z.prettifyError(parsed.error));
  const { interaction_id, selected_option_id, free_text, confirmed, cancelled, metadata } =
    parsed.data;
  if (interaction_id !== interactionIdOf(request) && interaction_id !== request.requestId) {
    throw noAnswer(request, 'it names another request.');
  }
  const selected = selected_option_id ?? impliedOption(request, confirmed, free_text);
  const named = {
    type: 'question-response',
    requestId: request.requestId,
    ...(metadata === undefined ? {} : { metadata }),
  } as const;
  const says = selected !== undefined || (free_text ?? undefined) !== undefined;
  if (cancelled && (says || confirmed === true)) {
    throw noAnswer(request, 'it is cancelled, and answers.');
  }
  if (cancelled) return { ...named, status: 'dismissed' };
  if (typeof confirmed === 'boolean' && confirmed !== (selected === 'yes')) {
    throw noAnswer(request, `it has confirmed: ${confirmed}, and selects otherwise.`);
  }
  const answer = {
    key: request.fields[0]?.key ?? '',
    optionIds: selected === undefined ? [] : [selected],
    ...(typeof free_text === 'string' ? { text: free_text } : {}),
  };
  return { ...named, status: 'answered', answers: [answer] };
}

/* A front end with two buttons of its own may send nothing but `confirmed`. */
function impliedOption(
  { kind }: QuestionRequestContent,
  confirmed: boolean | null | undefined,
  text: string | null | undefined,
): string | undefined {
  if (kind !== 'confirmation' || typeof confirmed !== 'boolean') return undefined;
  if (confirmed) return 'yes';
  return typeof text === 'string' ? undefined : 'no';
}

function inSnakeCase(response: unknown): unknown {
  if (typeof response !== 'object' || response === null) return response;
  const names = Object.entries(response).map(([name, value]): [string, unknown] => [
    name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    value,
  ]);
  return new Set(names.map(([name]) => name)).size < names.length
    ? undefined
    : Object.fromEntries(names);
}

function noAnswer({ requestId }: QuestionRequestContent, why: string): HoldpointError {
  return new HoldpointError('invalid-answer', `This is no answer to question ${requestId}: ${why}`);
}

function withoutAbsent<OBJECT extends object>(object: OBJECT): OBJECT {
  const present = { ...object };
  for (const [key, value] of Object.entries(present)) {
    if (value === undefined) Reflect.deleteProperty(present, key);
  }
  return present;
}
