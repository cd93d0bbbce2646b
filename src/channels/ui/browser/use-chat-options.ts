import type { PrepareReconnectToStreamRequest, PrepareSendMessagesRequest, UIMessage } from 'ai';
import { z } from 'zod';
import { approvalAnswers } from '../input/answers-in-message.ts';
import { clientOutputs } from './client-output-parts.ts';

const bodySchema = z.looseObject({
  answers: z.array(z.unknown()).optional(),
  outputs: z.array(z.unknown()).optional(),
});
const metadataSchema = z.looseObject({ revision: z.number() });

/**
 * What a page sends, for `DefaultChatTransport`: the user's message, and the answers and results that the assistant's last message holds
 * and that have not been sent; never the history. What `sendMessage` is given as `body` goes with it: `{ answers: [response] }` answers
 * questions.
 *
 * @example
 * const transport = new DefaultChatTransport({ api: '/chat', prepareSendMessagesRequest, prepareReconnectToStreamRequest });
 */
export const prepareSendMessagesRequest: PrepareSendMessagesRequest<UIMessage> = ({
  id,
  messages,
  messageId,
  trigger,
  body,
}) => {
  const { answers = [], outputs = [], ...rest } = bodySchema.parse(body ?? {});
  const named = messages.find((each) => each.id === messageId);
  const message = named ?? messages.at(-1);
  const spoken = messages.findLast(({ role }) => role === 'assistant');
  const holder = message?.role === 'assistant' ? message : spoken;
  const brought = given({
    answers: [...approvalAnswers(holder), ...answers],
    outputs: [...clientOutputs(holder), ...outputs],
  });
  const isUser = message?.role === 'user';
  /* Named, it is not new: `sendMessage(undefined, …)` brings answers past a message that was refused. */
  const isPassedOver = isUser && named !== undefined && answers.length + outputs.length > 0;
  const isRegenerate = trigger === 'regenerate-message' || isPassedOver;
  return {
    body: {
      ...rest,
      id,
      ...(isRegenerate ? { trigger: 'regenerate-message' } : {}),
      ...(isUser && !isPassedOver ? { message } : {}),
      ...brought,
      ...seen(holder, isUser),
    },
  };
};

/* A page that shows nothing of the assistant has seen nothing. */
function seen(message: UIMessage | undefined, isUser: boolean): { revision?: number } {
  const { revision } = metadataSchema.safeParse(message?.metadata).data ?? {};
  if (revision !== undefined) return { revision };
  return isUser && message === undefined ? { revision: 0 } : {};
}

/** Where a page asks for the running turn after it was reloaded, or lost its connection: the same route, `?id=…&stream`. */
export const prepareReconnectToStreamRequest: PrepareReconnectToStreamRequest = ({ id, api }) => ({
  api: `${api}${api.includes('?') ? '&' : '?'}id=${encodeURIComponent(id)}&stream`,
});

function given(lists: Record<string, unknown[]>): Record<string, unknown[]> {
  return Object.fromEntries(Object.entries(lists).filter(([, list]) => list.length > 0));
}
