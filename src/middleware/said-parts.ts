import type { ProviderResponse, ProviderPart } from '../agent/model/collected-response.ts';
import type { ToolCallOutcome } from '../content/tool-call.ts';

type ToolResult = Extract<ProviderPart, { type: 'tool-result' }>;
type OwnOutcome = Exclude<ToolCallOutcome, { status: 'forwarded' }>;
type ProviderMetadata = ProviderResponse['providerMetadata'];

/** A text or a thought that is there as a whole. */
export function blockParts(
  type: 'text' | 'reasoning',
  id: string,
  delta: string,
  providerMetadata?: ProviderMetadata,
): ProviderPart[] {
  return [
    { type: `${type}-start`, id, providerMetadata },
    { type: `${type}-delta`, id, delta },
    { type: `${type}-end`, id },
  ];
}

/** An outcome as a provider tells it. It has no word for a denial: that is an error with the reason. */
export function resultOf(outcome: OwnOutcome): Pick<ToolResult, 'result' | 'isError'> {
  switch (outcome.status) {
    case 'succeeded':
      return { result: outcome.output ?? '' };
    case 'failed':
      return { isError: true, result: outcome.error };
    case 'denied':
      return { isError: true, result: outcome.reason ?? 'Tool call execution denied.' };
  }
}
