import type { LanguageModelUsage } from 'ai';
import { z } from 'zod';
import type { AgentResponse } from '../agent/agent-response.ts';
import type { ProviderPart } from '../agent/model.ts';
import type { ResponseEnd } from './recorded-steps.ts';

type FinishPart = Extract<ProviderPart, { type: 'finish' }>;

const requestsSchema = z.array(z.json());

/** The last parts of a run. `end` is that of the model's last response, in this run or recorded before it. */
export function finishParts(response: AgentResponse, end: ResponseEnd | undefined): ProviderPart[] {
  const { id, timestamp, modelId } = end?.response ?? {};
  const { status, thread, usage, userInputRequests } = response;
  const requests = requestsSchema.parse(JSON.parse(JSON.stringify(userInputRequests)));
  return [
    { type: 'response-metadata', id, timestamp, modelId },
    {
      type: 'finish',
      finishReason: finishReasonOf(status, end),
      usage: usageOf(usage),
      providerMetadata: {
        ...end?.providerMetadata,
        holdpoint: { threadId: thread.id, status, requests },
      },
    },
  ];
}

function finishReasonOf(
  status: AgentResponse['status'],
  end: ResponseEnd | undefined,
): FinishPart['finishReason'] {
  switch (status) {
    case 'completed':
      return end?.finishReason ?? { unified: 'stop', raw: undefined };
    case 'waiting':
    case 'max-steps':
      return { unified: 'tool-calls', raw: status };
    case 'running':
    case 'indeterminate':
    case 'stuck':
    case 'cancelled':
      return { unified: 'other', raw: status };
  }
}

function usageOf(usage: LanguageModelUsage | undefined): FinishPart['usage'] {
  const { inputTokenDetails: input, outputTokenDetails: output } = usage ?? {};
  return {
    inputTokens: {
      total: usage?.inputTokens,
      noCache: input?.noCacheTokens,
      cacheRead: input?.cacheReadTokens,
      cacheWrite: input?.cacheWriteTokens,
    },
    outputTokens: {
      total: usage?.outputTokens,
      text: output?.textTokens,
      reasoning: output?.reasoningTokens,
    },
  };
}
