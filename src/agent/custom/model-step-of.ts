import { asSchema, type LanguageModelUsage, type ToolSet } from 'ai';
import { z } from 'zod';
import { readErrorText } from '../../content/error-text.ts';
import type { UserInputRequest } from '../../content/user-input.ts';
import { makeRequest, type RequestMaking } from '../calls/make-request.ts';
import { parseRequestedApproval, requestedApprovalSchema } from '../calls/requested-approval.ts';
import { makeQuestion } from '../calls/question-call.ts';
import type { ModelStep, ProposedCall } from '../model/model-step.ts';
import type { CustomRequest, CustomStep, NewToolCall } from './custom-step.ts';

/** What the function returned, as a step that the run can record. */
export async function toModelStep(
  returned: CustomStep,
  tools: ToolSet,
  making: RequestMaking,
): Promise<ModelStep> {
  const calls = await parseStepCalls(returned, tools, making.generateId);
  return makeModelStep(returned, { calls, requests: await makeStepRequests(returned, making) });
}

/** The calls, with inputs that their tools' schemas have accepted. A call with another input fails, and the next step gets the error. */
async function parseStepCalls(
  { toolCalls = [] }: CustomStep,
  tools: ToolSet,
  generateId: () => string,
): Promise<ProposedCall[]> {
  const schemas = new Map(Object.entries(tools).map(([name, tool]) => [name, tool.inputSchema]));
  return Promise.all(
    toolCalls.map(async (call): Promise<ProposedCall> => ({
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
): Promise<Pick<ProposedCall, 'input' | 'error'>> {
  const invalid = (error: unknown) => ({
    input,
    error: `Not run: invalid input: ${readErrorText(error)}`,
  });
  try {
    const result = schema && (await asSchema(schema).validate?.(input));
    if (result === undefined) return { input };
    return result.success ? { input: result.value } : invalid(result.error);
  } catch (error) {
    return invalid(error);
  }
}

async function makeStepRequests(
  { requests = {} }: CustomStep,
  making: RequestMaking,
): Promise<UserInputRequest[]> {
  return Promise.all(
    Object.entries(requests).flatMap(([key, asked]) =>
      asked === undefined ? [] : [makeStepRequest(key, asked, making)],
    ),
  );
}

async function makeStepRequest(
  key: string,
  asked: CustomRequest,
  making: RequestMaking,
): Promise<UserInputRequest> {
  if (asked.type === 'approval-request') {
    const { type: _approval, ...requested } = asked;
    const parsed = requestedApprovalSchema.parse(requested);
    return makeRequest(making, { ...parseRequestedApproval(parsed), key });
  }
  const { type: _type, ...question } = asked;
  try {
    return { ...makeQuestion(making, question), key };
  } catch (error) {
    const why = error instanceof z.ZodError ? z.prettifyError(error) : readErrorText(error);
    throw new TypeError(`Question ${JSON.stringify(key)} can't be asked: ${why}`, { cause: error });
  }
}

function makeModelStep(
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
