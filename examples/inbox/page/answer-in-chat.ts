import type { Chat } from '@ai-sdk/react';
import type { UIMessage } from 'ai';
import type { Answer, BoardEntry } from '../board.ts';

/**
 * Answers a request of the open conversation through its chat, so that what follows streams in. An approval of a call is answered as
 * `useChat` does it; everything else goes along as an answer.
 */
export function answerInChat(chat: Chat<UIMessage>, request: BoardEntry['request'], answer: Answer): void {
  if (answer.type === 'approval-response' && request.toolCall !== undefined) {
    const { requestId: id, approved, reason } = answer;
    void chat.addToolApprovalResponse({ id, approved, ...(reason === undefined ? {} : { reason }) });
  } else void chat.sendMessage(undefined, { body: { answers: [answer] } });
}
