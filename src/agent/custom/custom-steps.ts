import { asSchema, type FlexibleSchema, type LanguageModelUsage, type ToolSet } from 'ai';
import { z } from 'zod';
import { errorText } from '../../content/error-text.ts';
import type { RequestDecision } from '../../content/request-decision.ts';
import type { ToolCall } from '../../content/tool-call.ts';
import type { UserInputRequest } from '../../content/user-input.ts';
import { whyNotStrictJson } from '../../policy/strict-json.ts';
import { decisionOf } from '../../thread/decisions.ts';
import { deepFreeze } from '../../thread/deep-freeze.ts';
import { jsonCopy } from '../../thread/tagged-json.ts';
import type { ThreadEvent } from '../../thread/thread-event.ts';
import { isExpired, type ThreadState } from '../../thread/thread-state.ts';
import { firstMessages } from '../calls/decide-calls.ts';
import { makeRequest, type RequestMaking } from '../calls/make-request.ts';
import { makeQuestion } from '../calls/question-call.ts';
import type { ModelStep, ProposedCall, StepRequest, StepSource } from '../model/model-step.ts';
import type { CustomRequest, CustomStep, CustomStepInput, TakeCustomStep } from './custom-step.ts';
import { StreamedStep } from './streamed-step.ts';

/** What a custom agent's steps are made with. */
interface CustomSteps extends Pick<RequestMaking, 'now' | 'generateId'> {
  step: TakeCustomStep;
  progressSchema: FlexibleSchema<unknown> | undefined;
}

/** The steps that a function of the app makes. */
export function customSteps(custom: CustomSteps): StepSource {
  return async (request) => {
    const { state, tools, receiver } = request;
    const streamed = new StreamedStep(receiver, state.head.steps);
    const input = await stepInput(custom, request, (text) => streamed.write(text));
    const returned = checkedStep(await custom.step(input));
    streamed.end(returned.text);
    const { threadId, head } = state;
    const making = { ...custom, threadId, requestedBy: head.requestedBy };
    return modelStep(returned, {
      calls: await callsOf(returned, tools, custom.generateId),
      requests: await requestsOf(returned, making),
    });
  };
}

async function stepInput(
  { progressSchema }: CustomSteps,
  { state, runtimeContext, signal }: StepRequest,
  write: (text: string) => void,
): Promise<CustomStepInput<unknown, ToolCall, unknown>> {
  const { threadId, head, messages, pastCalls } = state;
  return {
    threadId,
    stepNumber: head.steps,
    messages: firstMessages(state, messages.length)(),
    input: deepFreeze(messages.slice(messages.length - head.unanswered.length)),
    progress: await savedProgress(state, progressSchema),
    decisions: decisionsOf(state),
    toolCalls: deepFreeze(pastCalls.filter(({ step }) => step === head.steps - 1)),
    runtimeContext,
    abortSignal: signal,
    write,
  };
}

/** The progress that the previous step saved. */
async function savedProgress(
  { threadId, head }: Readonly<ThreadState>,
  schema: FlexibleSchema<unknown> | undefined,
): Promise<unknown> {
  const { progress } = head;
  if (progress === undefined || schema === undefined) return structuredClone(progress);
  const result = await asSchema(schema).validate?.(structuredClone(progress));
  if (result === undefined) return structuredClone(progress);
  if (result.success) return result.value;
  throw new TypeError(
    `The progress saved in thread ${threadId} does not match progressSchema: ${errorText(result.error)} ` +
      'Make the schema accept the form that an older version of the app saved.',
    { cause: result.error },
  );
}

/** How the requests of the latest step were decided, by key. */
function decisionsOf({ head, endedRequests }: Readonly<ThreadState>): CustomStepInput['decisions'] {
  const decisions = new Map<string, RequestDecision>();
  for (const ended of endedRequests.values()) {
    const { key } = ended.request;
    if (ended.step === head.steps - 1 && key !== undefined) decisions.set(key, decisionOf(ended));
  }
  return decisions;
}

/** The events that close the latest step's approvals that have expired since they were given: they no longer count. */
export function expiredApprovals(
  { head, endedRequests }: Readonly<ThreadState>,
  at: number,
): ThreadEvent[] {
  const reason = 'The approval expired before the next step.';
  return [...endedRequests.values()].flatMap((ended): ThreadEvent[] => {
    const { request, response, cause } = ended;
    const isApproved = response?.type === 'approval-response' && response.approved;
    const counts = ended.step === head.steps - 1 && isApproved && cause === undefined;
    if (!counts || !isExpired(request, at)) return [];
    return [{ type: 'request-closed', at, requestId: request.requestId, cause: 'expired', reason }];
  });
}

const stepSchema = z.strictObject({
  text: z.string().optional(),
  toolCalls: z.array(z.strictObject({ toolName: z.string(), input: z.unknown() })).optional(),
  requests: z.record(z.string().min(1), z.custom<CustomRequest>(isRequest)).optional(),
  progress: z.unknown().optional(),
  continues: z.boolean().optional(),
  usage: z.custom<LanguageModelUsage>().optional(),
});

function isRequest(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || !('type' in value)) return false;
  return value.type === 'approval-request' || value.type === 'question-request';
}

/** What the function returned. Throws a `TypeError` for anything that could not be recorded. */
function checkedStep(returned: unknown): CustomStep {
  const result = stepSchema.safeParse(returned);
  if (!result.success) {
    throw new TypeError(`The step of a custom agent is invalid: ${z.prettifyError(result.error)}`);
  }
  const { progress } = result.data;
  const fault = progress === undefined ? undefined : whyNotStrictJson(progress);
  if (fault !== undefined) throw new TypeError(`The progress of a step must be JSON: ${fault}.`);
  return result.data;
}

/** The calls, with inputs that their tools' schemas have accepted. The next step gets the error of any other. */
async function callsOf(
  { toolCalls = [] }: CustomStep,
  tools: ToolSet,
  generateId: () => string,
): Promise<ProposedCall[]> {
  const schemas = new Map(Object.entries(tools).map(([name, tool]) => [name, tool.inputSchema]));
  return Promise.all(
    toolCalls.map(async ({ toolName, input }): Promise<ProposedCall> => {
      const call = { toolCallId: generateId(), toolName, input };
      const schema = schemas.get(toolName);
      const result = schema && (await asSchema(schema).validate?.(input));
      if (result === undefined) return call;
      if (result.success) return { ...call, input: result.value };
      return { ...call, error: `Not run: invalid input: ${errorText(result.error)}` };
    }),
  );
}

async function requestsOf(
  { requests = {} }: CustomStep,
  making: RequestMaking,
): Promise<UserInputRequest[]> {
  return Promise.all(
    Object.entries(requests).map(async ([key, { type: _type, ...asked }]) =>
      'fields' in asked
        ? { ...makeQuestion(making, asked), key }
        : makeRequest(making, { ...asked, key }),
    ),
  );
}

function modelStep(
  { text = '', progress, continues, usage }: CustomStep,
  { calls, requests }: { calls: ProposedCall[]; requests: UserInputRequest[] },
): ModelStep {
  const content = [
    ...(text === '' ? [] : [{ type: 'text' as const, text: text.toWellFormed() }]),
    ...calls.map(({ toolCallId, toolName, input }) => ({
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
    usage: usage ?? noUsage,
    metadata: {},
    custom: {
      requests,
      ...(progress === undefined ? {} : { progress: jsonCopy(progress) }),
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
