import { type LanguageModelUsage, asSchema, type FlexibleSchema, type ToolSet } from 'ai';
import { z } from 'zod';
import { renderSchemaError } from '../../json/field-fault.ts';
import { readErrorText } from '../../content/app-errors.ts';
import type { ToolCall } from '../../content/tool-call.ts';
import type { UserInputRequest } from '../../content/user-input.ts';
import { readStrictJson } from '../../json/json-form.ts';
import { copyPlain } from '../../json/json-value.ts';
import { type UserApproval, userApprovalSchema } from '../../policy/user-approval.ts';
import { copyAsLogged } from '../../json/tagged-json.ts';
import {
  type RequestedApproval,
  whyNotKey,
  requestedApprovalSchema,
  parseRequestedApproval,
} from '../calls/requested-approval.ts';
import { makeRequest, type RequestMaking } from '../calls/make-request.ts';
import { type Question, makeQuestion } from '../calls/question-call.ts';
import type { ModelCall, ModelStep } from '../model/model-step.ts';

/** The result of a custom agent's function: everything in it is recorded together, or not at all. */
export interface CustomStep<PROGRESS = unknown, CALL extends ToolCall = ToolCall> {
  /** The agent's reply. Default: what the step has written with `write`. */
  text?: string;
  /** Calls of the agent's tools. They need approval as `toolApproval` says, and start at most once; then the next step is taken. */
  toolCalls?: readonly NewToolCall<CALL>[];
  /** The requests to make, by keys of the app's choice. The next step is taken when all of them are answered or closed. */
  requests?: Readonly<Record<string, CustomRequest | undefined>>;
  /** Any JSON, saved in the thread for the next step. */
  progress?: PROGRESS;
  /** True if the next step is taken at once. Default `false`: without calls and requests, the turn is complete. */
  continues?: boolean;
  /** The tokens that the step's own model requests used. */
  usage?: Partial<LanguageModelUsage>;
}

/** A call that a custom agent makes. The second part keeps the inferred `toolName` a literal. */
type NewToolCall<CALL extends ToolCall = ToolCall> = NewCallOf<CALL> & {
  toolName: CALL['toolName'];
};

type NewCallOf<CALL extends ToolCall> = CALL extends unknown
  ? Pick<CALL, 'toolName' | 'input'>
  : never;

/** A request of a custom agent: an approval or a question. */
type CustomRequest = ApprovalToAsk | QuestionToAsk;

interface ApprovalToAsk
  extends Omit<RequestedApproval, 'key'>, Pick<UserApproval, 'startWithinMs'> {
  /** An approval is asked for. */
  type: 'approval-request';
}

/** A question that a step asks: a value of `requests`. */
export interface QuestionToAsk extends Question {
  /** A question is asked. */
  type: 'question-request';
}

const tokens = z.number().optional();

/* An approval starts the next step. */
const { startWithinMs } = userApprovalSchema.shape;
const approvalToAskSchema = requestedApprovalSchema.extend({ startWithinMs });

/* The fields of a question are checked when it is made. */
const requestSchema = z.discriminatedUnion('type', [
  approvalToAskSchema.extend({
    type: z.literal('approval-request'),
    text: z.string().regex(/\S/, 'must not be blank'),
  }),
  z.looseObject({ type: z.literal('question-request') }),
]);

const stepSchema = z.strictObject({
  text: z.string().optional(),
  toolCalls: z.array(z.strictObject({ toolName: z.string(), input: z.unknown() })).optional(),
  requests: z.custom<NonNullable<CustomStep['requests']>>().superRefine(refuseRequests).optional(),
  progress: z.unknown().optional(),
  continues: z.boolean().optional(),
  usage: z
    .looseObject({ inputTokens: tokens, outputTokens: tokens, totalTokens: tokens })
    .optional(),
});

/* By hand, because the schema of a record skips the key `__proto__`: that request would be lost. */
function refuseRequests(requests: unknown, context: z.RefinementCtx): void {
  const refuse = (message: string): void => context.addIssue({ code: 'custom', message });
  if (!isPlainObject(requests)) return refuse('must be a plain object');
  for (const [key, request] of Object.entries(requests)) {
    const fault = key === '__proto__' ? 'A key must not be __proto__' : whyNotKey(key);
    if (fault !== undefined) refuse(fault);
    if (request === undefined) continue;
    const { error } = requestSchema.safeParse(request);
    if (error !== undefined) refuse(`request ${JSON.stringify(key)}: ${renderSchemaError(error)}`);
  }
}

function isPlainObject(value: unknown): value is object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

/**
 * Checks what the function returned, and copies its progress. Throws a `TypeError` for anything that could not be recorded, and for
 * progress that the next step could not read.
 */
export async function checkStep(
  returned: unknown,
  schema: FlexibleSchema<unknown> | undefined,
): Promise<CustomStep> {
  const { success, data, error } = stepSchema.safeParse(returned);
  if (!success) {
    throw new TypeError(`The step of a custom agent is invalid: ${renderSchemaError(error)}`);
  }
  if (data.progress === undefined) return data;
  const progress = readStrictJson(data.progress);
  if ('fault' in progress)
    throw new TypeError(`The progress of a step must be JSON: ${progress.fault}.`);
  const copy = copyAsLogged(progress.json);
  const mismatch = (await parseProgress(copy, schema)).error;
  if (mismatch !== undefined) {
    throw new TypeError(
      `The step of a custom agent is invalid: its progress does not match progressSchema: ${readErrorText(mismatch)}`,
      { cause: mismatch },
    );
  }
  return { ...data, progress: copy };
}

/** The progress as the schema parses it, or the schema's error. */
export async function parseProgress(
  progress: unknown,
  schema: FlexibleSchema<unknown> | undefined,
): Promise<{ value: unknown; error?: Error }> {
  const value = structuredClone(progress);
  const result = schema && (await asSchema(schema).validate?.(value));
  if (result === undefined) return { value };
  return result.success ? { value: result.value } : { value, error: result.error };
}

/** Makes what the function returned into a step that the run can record. */
export async function toModelStep(
  returned: CustomStep,
  tools: ToolSet,
  making: RequestMaking,
): Promise<ModelStep> {
  const calls = await parseStepCalls(returned, tools, making.generateId);
  const requests = await Promise.all(
    Object.entries(returned.requests ?? {}).flatMap(([key, asked]) =>
      asked === undefined ? [] : [makeStepRequest(key, asked, making)],
    ),
  );
  return makeModelStep(returned, { calls, requests });
}

/** The calls, with inputs that their tools' schemas have accepted. A call with another input fails, and the next step gets the error. */
async function parseStepCalls(
  { toolCalls = [] }: CustomStep,
  tools: ToolSet,
  generateId: () => string,
): Promise<ModelCall[]> {
  const schemas = new Map(Object.entries(tools).map(([name, tool]) => [name, tool.inputSchema]));
  return Promise.all(
    toolCalls.map(async (call): Promise<ModelCall> => ({
      toolCallId: generateId(),
      toolName: call.toolName,
      ...(await checkCallInput(call, schemas.get(call.toolName))),
    })),
  );
}

/** The input as its schema parses it, or why it is invalid. A schema may also throw. */
async function checkCallInput(
  { input }: NewToolCall,
  schema: ToolSet[string]['inputSchema'] | undefined,
): Promise<Pick<ModelCall, 'given' | 'made' | 'error'>> {
  const read = readStrictJson(input);
  if ('fault' in read)
    return { given: {}, made: {}, error: `Not run: the input must be JSON: ${read.fault}.` };
  const given = copyPlain(read.json);
  const invalid = (error: unknown) => ({
    given,
    made: given,
    error: `Not run: invalid input: ${readErrorText(error)}`,
  });
  try {
    const result = schema && (await asSchema(schema).validate?.(copyPlain(given)));
    if (result === undefined) return { given, made: given };
    return result.success ? { given, made: result.value } : invalid(result.error);
  } catch (error) {
    return invalid(error);
  }
}

async function makeStepRequest(
  key: string,
  asked: CustomRequest,
  making: RequestMaking,
): Promise<UserInputRequest> {
  if (asked.type === 'approval-request') {
    const { type: _approval, ...requested } = asked;
    const parsed = approvalToAskSchema.parse(requested);
    return makeRequest(making, { ...parseRequestedApproval(parsed), key });
  }
  const { type: _type, ...question } = asked;
  try {
    return { ...makeQuestion(making, question), key };
  } catch (error) {
    const why = error instanceof z.ZodError ? renderSchemaError(error) : readErrorText(error);
    throw new TypeError(`Question ${JSON.stringify(key)} can't be asked: ${why}`, { cause: error });
  }
}

function makeModelStep(
  { text = '', progress, continues, usage }: CustomStep,
  { calls, requests }: { calls: ModelCall[]; requests: UserInputRequest[] },
): ModelStep {
  const content = [
    ...(text === '' ? [] : [{ type: 'text' as const, text: text.toWellFormed() }]),
    ...calls.map(({ toolCallId, toolName, given: input }) => ({
      type: 'tool-call' as const,
      toolCallId,
      toolName,
      input,
    })),
  ];
  return {
    ...(content.length === 0 ? {} : { message: { role: 'assistant', content } }),
    calls,
    finishReason: calls.length === 0 ? 'stop' : 'tool-calls',
    usage: completeUsage(usage),
    metadata: {},
    custom: {
      requests,
      ...(progress === undefined ? {} : { progress }),
      ...(continues === true ? { continues } : {}),
    },
  };
}

const noUsage: LanguageModelUsage = {
  inputTokens: undefined,
  inputTokenDetails: {
    noCacheTokens: undefined,
    cacheReadTokens: undefined,
    cacheWriteTokens: undefined,
  },
  outputTokens: undefined,
  outputTokenDetails: { textTokens: undefined, reasoningTokens: undefined },
  totalTokens: undefined,
};

/** The usage with all the fields that the sum of a run needs. */
function completeUsage(usage: CustomStep['usage']): LanguageModelUsage {
  const { inputTokenDetails, outputTokenDetails } = usage ?? {};
  return {
    ...noUsage,
    ...usage,
    inputTokenDetails: { ...noUsage.inputTokenDetails, ...inputTokenDetails },
    outputTokenDetails: { ...noUsage.outputTokenDetails, ...outputTokenDetails },
  };
}
