import { z } from 'zod';
import type { ApprovalRequest, ApprovalResponseContent } from '../../../content/approval.ts';
import { grantScopes, type Remember, rememberSchema } from '../../../content/approval-terms.ts';
import { HoldpointError } from '../../../errors.ts';

type Schema = Record<string, unknown>;

/** The JSON Schema of the answer to an approval: only what the request allows. `inputSchema` is that of the tool, if known. */
export function makeApprovalSchema(request: ApprovalRequest, inputSchema: unknown): Schema {
  const { digest, editable, remember, requireReason, edit } = request;
  return {
    type: 'object',
    properties: {
      approved: { type: 'boolean' },
      reason: { type: 'string' },
      digest: { const: digest },
      ...(editable === undefined ? {} : { input: editSchema(request, inputSchema) }),
      ...(remember === undefined ? {} : { remember: makeRememberSchema(remember) }),
    },
    /* An approval of an edited call must say which input it is for. */
    required: edit === undefined ? ['approved'] : ['approved', 'digest'],
    ...(requireReason === true ? demandedReason : {}),
    additionalProperties: false,
  };
}

const demandedReason = {
  anyOf: [
    { properties: { approved: { const: false } } },
    { properties: { reason: { type: 'string', pattern: '\\S' } }, required: ['reason'] },
  ],
};

/** The tool's schema; with named fields, the others are fixed to what is shown. */
function editSchema({ editable, toolCall }: ApprovalRequest, inputSchema: unknown): unknown {
  const whole = inputSchema ?? {};
  if (editable === undefined || editable === true) return whole;
  const fields = Object.entries(fieldsSchema.catch({}).parse(toolCall?.input));
  const fixed = fields.filter(([name]) => !editable.includes(name));
  const isKnown = fields.map(([name]) => name).concat(editable);
  return {
    allOf: [
      whole,
      {
        type: 'object',
        properties: {
          ...Object.fromEntries(editable.map((name) => [name, true])),
          ...Object.fromEntries(fixed.map(([name, value]) => [name, { const: value }])),
        },
        required: fixed.map(([name]) => name),
        propertyNames: { enum: [...new Set(isKnown)] },
      },
    ],
  };
}

const fieldsSchema = z.record(z.string(), z.unknown());

/** What an answer may ask to be remembered: `true` for all that is allowed, or less. */
function makeRememberSchema({ scope, match, expiresAfterMs, uses }: Remember): Schema {
  const scopes = grantScopes.slice(0, grantScopes.indexOf(scope) + 1);
  return {
    anyOf: [
      { const: true },
      {
        type: 'object',
        properties: {
          scope: { enum: scopes },
          match: matchSchema(match),
          expiresAfterMs: {
            type: 'number',
            exclusiveMinimum: 0,
            ...(expiresAfterMs === undefined ? {} : { maximum: expiresAfterMs }),
          },
          uses: {
            type: 'integer',
            minimum: 1,
            ...(uses === undefined ? {} : { maximum: uses }),
          },
        },
        additionalProperties: false,
      },
    ],
  };
}

function matchSchema(widest: Remember['match']): Schema {
  if (widest === 'exact') return { const: 'exact' };
  const fields = { type: 'array', items: { type: 'string' }, minItems: 1 };
  if (widest === 'any') return { anyOf: [{ enum: ['exact', 'any'] }, fields] };
  /* More fields cover fewer calls. */
  const named = { ...fields, allOf: widest.map((name) => ({ contains: { const: name } })) };
  return { anyOf: [{ const: 'exact' }, named] };
}

const payloadSchema = z.strictObject({
  approved: z.boolean(),
  reason: z.string().optional(),
  digest: z.string().optional(),
  input: z.unknown().optional(),
  remember: z.union([z.literal(true), rememberSchema.partial()]).optional(),
});

/** Parses a payload as the answer to an approval. Throws `invalid-answer`. The agent checks what the request allows. */
export function parseApprovalAnswer(
  { requestId, remember: allowed }: ApprovalRequest,
  payload: unknown,
): ApprovalResponseContent {
  const parsed = payloadSchema.safeParse(payload);
  if (!parsed.success) throw makeApprovalAnswerError(requestId, z.prettifyError(parsed.error));
  const { remember, ...answer } = parsed.data;
  const plain = { type: 'approval-response' as const, requestId, ...answer };
  if (remember === undefined) return plain;
  if (allowed === undefined) {
    throw makeApprovalAnswerError(requestId, "its rule doesn't allow it to be remembered");
  }
  return { ...plain, remember: { ...allowed, ...(remember === true ? {} : remember) } };
}

function makeApprovalAnswerError(requestId: string, why: string): HoldpointError {
  return new HoldpointError(
    'invalid-answer',
    `Not a valid answer to approval ${requestId}: ${why}. The request stays open.`,
    { requestId },
  );
}
