import type { ModelMessage, ToolResultPart, UIMessage, UIMessageChunk } from 'ai';
import { z } from 'zod';
import type { ToolCallOutcome } from '../../../content/tool-call.ts';
import { importedMessages, messageIdOf } from '../../../thread/app-messages.ts';
import { CallsByPlace } from '../../../thread/calls-by-place.ts';
import type { ThreadEvent } from '../../../thread/thread-event.ts';
import type { ThreadViewOptions } from './thread-view-options.ts';
import { TurnChunks } from './turn-chunks.ts';
import { userUIMessage } from './user-ui-message.ts';

/** A message of an imported conversation as a page shows it: one of the user, or the chunks of the assistant's. */
export interface ImportedView {
  id: string;
  user: UIMessage | undefined;
  chunks: UIMessageChunk[];
}

/** An imported conversation as a page shows it: replies in one message, and calls as ended, so that there is nothing to answer. */
export function importedViews(
  threadId: string,
  events: readonly ThreadEvent[],
  options: ThreadViewOptions,
): ImportedView[] {
  const views: ImportedView[] = [];
  let reply: { view: ImportedView; turn: TurnChunks } | undefined;
  for (const [index, message] of importedMessages(events).entries()) {
    const id = importedId(threadId, message, index);
    if (message.role === 'user') {
      reply = undefined;
      views.push({ id, user: userUIMessage(message, id), chunks: [] });
    } else if (message.role !== 'system') {
      if (reply === undefined) {
        reply = {
          view: { id, user: undefined, chunks: [] },
          turn: new TurnChunks(new CallsByPlace(), options),
        };
        views.push(reply.view);
      }
      reply.view.chunks.push(...chunksOf(message, reply.turn));
    }
  }
  return views;
}

/** The id of an imported message: its own, or one that is made here. */
export function importedId(threadId: string, message: ModelMessage, index: number): string {
  return messageIdOf(message) ?? `${threadId}:imported:${index}`;
}

function chunksOf(message: ModelMessage, turn: TurnChunks): UIMessageChunk[] {
  if (message.role !== 'tool') {
    return turn.ofEvent({ type: 'step-finished', at: 0, step: 0, message, finishReason: 'stop' });
  }
  return message.content.flatMap((part) =>
    part.type === 'tool-result'
      ? turn.endImported(
          { toolCallId: part.toolCallId, toolName: part.toolName, input: null },
          outcomeOf(part),
        )
      : [],
  );
}

function outcomeOf({ output }: ToolResultPart): ToolCallOutcome {
  switch (output.type) {
    case 'execution-denied':
      return { status: 'denied', reason: output.reason ?? 'The call was denied.' };
    case 'error-text':
      return { status: 'failed', error: output.value };
    case 'error-json':
      return { status: 'failed', error: JSON.stringify(output.value) };
    case 'content':
      return {
        status: 'succeeded',
        output: z.json().parse(JSON.parse(JSON.stringify(output.value))),
      };
    default:
      return { status: 'succeeded', output: output.value };
  }
}
