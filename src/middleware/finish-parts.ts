import type { LanguageModelUsage } from 'ai';
import { z } from 'zod';
import type { AgentResponse } from '../agent/agent-response.ts';
import type { ProviderPart } from '../agent/model/collected-response.ts';
import type { AnswerEnd } from './recorded-steps.ts';

type FinishPart = Extract<ProviderPart, { type: 'finish' }>;

const requestsSchema = z.array(z.json());

/** The last parts of a run, of which `answer` was the model's last, in this run or before it. */
export function finishParts(
  response: AgentResponse,
  answer: AnswerEnd | undefined,
): ProviderPart[] {
  const { id, timestamp, modelId } = answer?.response ?? {};
  const { status, thread, usage, userInputRequests } = response;
  const requests = requestsSchema.parse(JSON.parse(JSON.stringify(userInputRequests)));
  return [
    { type: 'response-metadata', id, timestamp, modelId },
    {
      type: 'finish',
      finishReason: finishReasonOf(status, answer),
      usage: usageOf(usage),
      providerMetadata: {
        ...answer?.providerMetadata,
        holdpoint: { threadId: thread.id, status, requests },
      },
    },
  ];
}

function finishReasonOf(
  status: AgentResponse['status'],
  answer: AnswerEnd | undefined,
): FinishPart['finishReason'] {
  switch (status) {
    case 'completed':
      return answer?.finishReason ?? { unified: 'stop', raw: undefined };
    case 'waiting':
    case 'max-steps':
      return { unified: 'tool-calls', raw: status };
    case 'running':
    case 'indeterminate':
    case 'failing':
    case 'stuck':
    case 'cancelled':
      return { unified: 'other', raw: status };
  }
}

function usageOf(usage: LanguageModelUsage | undefined): FinishPart['usage'] {
  const { inputTokenDetails: into, outputTokenDetails: outof } = usage ?? {};
  return {
    inputTokens: {
      total: usage?.inputTokens,
      noCache: into?.noCacheTokens,
      cacheRead: into?.cacheReadTokens,
      cacheWrite: into?.cacheWriteTokens,
    },
    outputTokens: {
      total: usage?.outputTokens,
      text: outof?.textTokens,
      reasoning: outof?.reasoningTokens,
    },
  };
}
