import { createAgent, memoryStore } from 'holdpoint';
import { createUiHandler, toUIMessages, type UiHandlerOptions } from 'holdpoint/ui';
import { streamedModel, type StreamPart } from '../support/streamed-model.ts';
import { travelTools } from '../support/travel-world.ts';
import { chatPage, type Handler, origin, type PageOptions } from './chat-page.ts';

/** A page of a thread whose model streams these answers. */
export function streamingSite(
  answers: Parameters<typeof streamedModel>,
  options: Partial<UiHandlerOptions> = {},
  page: PageOptions = {},
) {
  const { model, heard } = streamedModel(...answers);
  const store = memoryStore();
  const toolApproval = { book: 'user-approval' } as const;
  const { tools = travelTools([]) } = options;
  const agent = createAgent({ model, store, tools, maxRetries: 0, toolApproval });
  const handler = createUiHandler({
    agent,
    authorize: () => ({ principal: 'ann' }),
    ...options,
  });
  const reloaded = async () => toUIMessages(await agent.thread('t'), options);
  return { agent, handler, heard, reloaded, ...chatPage(handler, page) };
}

/** A `fetch` whose requests go straight to the handler. */
export function fetchFrom(handler: Handler): typeof globalThis.fetch {
  return async (url, init) =>
    handler(new Request(new URL(url instanceof Request ? url.url : url, origin), init));
}

/** A call as providers stream it. */
export const call = (id: string, toolName: string, input: string): StreamPart[] => [
  { type: 'tool-input-start', id, toolName },
  { type: 'tool-input-delta', id, delta: input.slice(0, 4) },
  { type: 'tool-input-delta', id, delta: input.slice(4) },
  { type: 'tool-input-end', id },
  { type: 'tool-call', toolCallId: id, toolName, input },
];
/** A block of reasoning, a delta for each of `deltas`. */
export const reasoningParts = (id: string, ...deltas: string[]): StreamPart[] => [
  { type: 'reasoning-start', id },
  ...deltas.map((delta): StreamPart => ({ type: 'reasoning-delta', id, delta })),
  { type: 'reasoning-end', id },
];
/** The input of a call of `look` or `book`. */
export const city = '{"city":"Rome"}';
