import type { Chat } from '@ai-sdk/react';
import { isToolUIPart, type UIMessage } from 'ai';
import type { Answer } from '../board.ts';

/**
 * Answers a request through the open chat, so that what follows streams in: an approval as `useChat` does it, a question beside the message.
 * `false`, and nothing done, when the chat does not show the request as waiting, or is at work.
 */
export function answerInChat(chat: Chat<UIMessage>, answer: Answer): boolean {
  const isIdle = chat.status === 'ready' || chat.status === 'error';
  if (!isIdle || !showsAsWaiting(chat, answer.requestId)) return false;
  if (answer.type === 'approval-response') {
    const { requestId: id, approved, reason } = answer;
    void chat.addToolApprovalResponse({
      id,
      approved,
      ...(reason === undefined ? {} : { reason }),
    });
  } else void chat.sendMessage(undefined, { body: { answers: [answer] } });
  return true;
}

function showsAsWaiting({ messages }: Chat<UIMessage>, requestId: string): boolean {
  return messages.some(({ parts }) =>
    parts.some(
      (part) =>
        isToolUIPart(part) && part.state === 'approval-requested' && part.approval.id === requestId,
    ),
  );
}
