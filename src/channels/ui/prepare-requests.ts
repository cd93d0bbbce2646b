import type { PrepareReconnectToStreamRequest, PrepareSendMessagesRequest, UIMessage } from 'ai';
import { z } from 'zod';
import { approvalAnswers } from './approval-parts.ts';
import { clientOutputs } from './client-output-parts.ts';

const bodySchema = z.looseObject({
  answers: z.array(z.unknown()).optional(),
  outputs: z.array(z.unknown()).optional(),
});
const metadataSchema = z.looseObject({ revision: z.number() });

/**
 * What a page sends, for `DefaultChatTransport`: the user's last message, or the answers and results that the last message holds, and never
 * the history. What `sendMessage` is given as `body` goes with it: `{ answers: [response] }` answers questions.
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
  const message = messages.find((each) => each.id === messageId) ?? messages.at(-1);
  const isAgain = trigger === 'regenerate-message';
  if (isAgain || message?.role === 'user') {
    const said = message?.role === 'user' ? { message } : {};
    return {
      body: {
        ...rest,
        id,
        ...(isAgain ? { trigger } : {}),
        ...said,
        ...given({ answers, outputs }),
      },
    };
  }
  const { revision } = metadataSchema.safeParse(message?.metadata).data ?? {};
  const brought = given({
    answers: [...approvalAnswers(message), ...answers],
    outputs: [...clientOutputs(message), ...outputs],
  });
  return { body: { ...rest, id, ...brought, ...(revision === undefined ? {} : { revision }) } };
};

/** Where a page asks for the running turn after it was reloaded, or lost its connection: the same route, `?id=…&stream`. */
export const prepareReconnectToStreamRequest: PrepareReconnectToStreamRequest = ({ id, api }) => ({
  api: `${api}${api.includes('?') ? '&' : '?'}id=${encodeURIComponent(id)}&stream`,
});

function given(lists: Record<string, unknown[]>): Record<string, unknown[]> {
  return Object.fromEntries(Object.entries(lists).filter(([, list]) => list.length > 0));
}
