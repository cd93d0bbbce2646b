import { type ModelMessage, type ToolApprovalResponse, wrapLanguageModel } from 'ai';
import { memoryStore } from 'holdpoint';
import { holdPoint, type HoldPointOptions } from 'holdpoint/middleware';
import type { PlayedModel } from '../support/script.ts';
import { type Ran, travelTools } from '../support/travel-world.ts';

/** The options of a call that belongs to a thread. */
export function ofThread(threadId = 't', more: object = {}) {
  return { providerOptions: { holdpoint: { threadId, ...more } } };
}

/** A played model behind `holdPoint`, with the tools of the travel world and what they did. */
export function heldWorld(
  played: Pick<PlayedModel, 'model'>,
  options: Partial<HoldPointOptions> = {},
) {
  const ran: Ran[] = [];
  const tools = travelTools(ran);
  const store = memoryStore();
  const middleware = holdPoint({
    tools,
    toolApproval: { book: 'user-approval' },
    store,
    maxRetries: 0,
    ...options,
  });
  if (typeof played.model === 'string') throw new Error('A model was expected.');
  const model = wrapLanguageModel({ model: asV4(played.model), middleware });
  return { model, tools, store, ran };
}

type Wrappable = Parameters<typeof wrapLanguageModel>[0]['model'];

function asV4(model: Exclude<PlayedModel['model'], string>): Wrappable {
  return model;
}

/** The answers to the requests among the parts of a result. */
export function answersTo(
  content: readonly { type: string; approvalId?: string }[],
  decide: (approvalId: string) => Partial<ToolApprovalResponse> = () => ({}),
): ModelMessage[] {
  const requests = content.filter(({ type }) => type === 'tool-approval-request');
  if (requests.length === 0) return [];
  return [
    {
      role: 'tool',
      content: requests.map(({ approvalId = '' }) => ({
        type: 'tool-approval-response',
        approvalId,
        approved: true,
        providerExecuted: true,
        ...decide(approvalId),
      })),
    },
  ];
}
