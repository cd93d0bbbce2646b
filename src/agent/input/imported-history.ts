import type { ModelMessage, UIMessage } from 'ai';
import { readErrorText } from '../../content/app-errors.ts';
import { HoldpointError } from '../../errors.ts';
import { isEqualJson } from '../../policy/digest.ts';
import { listImportedMessages, withMessageId } from '../../thread/app-messages.ts';
import { copyAsLogged, toJson } from '../../thread/tagged-json.ts';
import type { ThreadLog } from '../../thread/thread-log.ts';
import { convertFromUIMessage } from '../model/message-schemas.ts';
import { type AtPosition, HistoryCheck, makeImportError, type MessagePart } from './history-check.ts';
import { parseAnswerer } from './parse-input.ts';
import type { AnswerOptions } from './run-input.ts';

/** A conversation from elsewhere that a new thread begins with. */
export interface ImportedHistory extends AnswerOptions {
  /** The AI SDK's model messages or its UI messages, oldest first. */
  messages: readonly ModelMessage[] | readonly UIMessage[];
  /**
   * What happens to a tool call without a result. `refuse`, the default: the import is refused with its position. `close`: the call gets
   * a result that says that it was open, and the model may propose it again. Open calls that the provider runs are always refused.
   */
  openCalls?: 'refuse' | 'close';
}

/** A checked history. */
interface ParsedHistory {
  messages: ModelMessage[];
  by: AnswerOptions;
}

/** Checks a history before anything is written. Throws `invalid-input` with the position of what can't be kept. */
export async function parseHistory(
  { messages, openCalls = 'refuse', principal, channel }: ImportedHistory,
  { allowSystemInMessages }: { allowSystemInMessages?: boolean | undefined },
): Promise<ParsedHistory> {
  const by = parseAnswerer({
    ...(principal !== undefined && { principal }),
    ...(channel !== undefined && { channel }),
  });
  if (!Array.isArray(messages) || messages.length === 0) {
    throw new HoldpointError('invalid-input', 'messages must be an array of at least one message.');
  }
  if (openCalls !== 'refuse' && openCalls !== 'close') {
    throw new HoldpointError('invalid-input', "openCalls must be 'refuse' or 'close'.");
  }
  const check = new HistoryCheck({ closes: openCalls === 'close', allowSystemInMessages });
  for (const item of await convertWithPositions(messages)) check.add(item);
  return { messages: check.end().map(copyMessage), by };
}

function copyMessage(message: ModelMessage, index: number): ModelMessage {
  try {
    return copyAsLogged(message);
  } catch (error) {
    throw makeImportError(`messages[${index}]`, readErrorText(error), error);
  }
}

/** Begins a new thread with a history. Throws `thread-diverged` for a thread that began otherwise. */
export async function importHistory(
  log: ThreadLog,
  { messages, by }: ParsedHistory,
  now: () => number,
): Promise<void> {
  await log.commit((proposal) => {
    const { head, events, threadId } = proposal.state;
    if (!head.created) {
      proposal.add({ type: 'messages-imported', at: now(), messages, ...by });
      return;
    }
    if (isEqualJson(toJson(listImportedMessages(events.slice())), toJson(messages))) return;
    throw new HoldpointError(
      'thread-diverged',
      `Thread ${threadId} exists and did not begin with these messages. Open it with agent.thread(id), or import them into a new thread.`,
    );
  });
}

/* UI messages are converted one by one, so that each result has its position. */
async function convertWithPositions(messages: readonly unknown[]): Promise<AtPosition[]> {
  const kinds = messages.map((message) => isObject(message) && 'parts' in message);
  const isUi = kinds[0] ?? false;
  const other = kinds.findIndex((kind) => kind !== isUi);
  if (other !== -1) {
    throw makeImportError(`messages[${other}]`, 'UI messages and model messages are mixed');
  }
  const items = await Promise.all(
    messages.map(async (message, index) => {
      const position = `messages[${index}]`;
      if (!isUi) return [{ position, message }];
      const placeOf = (part: MessagePart): string => `${position}${locateUIPart(message, part)}`;
      return (await convertUIMessage(message, position)).map((each) => ({
        position,
        message: each,
        placeOf,
      }));
    }),
  );
  return items.flat();
}

async function convertUIMessage(message: unknown, position: string): Promise<ModelMessage[]> {
  try {
    const { id, role, messages } = await convertFromUIMessage(message);
    const hasId = role === 'user' && id !== '' && id.length <= 256 && id.isWellFormed();
    return hasId ? messages.map((each) => withMessageId(each, id)) : messages;
  } catch (error) {
    throw makeImportError(
      position,
      `not a valid UI message of the AI SDK: ${readErrorText(error)}`,
      error,
    );
  }
}

/* The position of the part of a UI message from which a part was made. */
function locateUIPart(message: unknown, part: MessagePart): string {
  const parts: unknown = isObject(message) && 'parts' in message ? message.parts : [];
  const index = Array.isArray(parts)
    ? parts.findLastIndex((each: unknown) => isObject(each) && isMadeFrom(part, each))
    : -1;
  return index === -1 ? '' : `.parts[${index}]`;
}

function isMadeFrom(part: MessagePart, ui: object): boolean {
  if ('toolCallId' in part) return 'toolCallId' in ui && ui.toolCallId === part.toolCallId;
  if (part.type === 'file') return 'url' in ui && ui.url === findFileUrl(part.data);
  const { approval }: { approval?: unknown } = ui;
  return (
    part.type === 'tool-approval-response' &&
    isObject(approval) &&
    'id' in approval &&
    approval.id === part.approvalId
  );
}

function findFileUrl(data: unknown): unknown {
  const url = isObject(data) && 'url' in data ? data.url : data;
  return url instanceof URL ? url.href : url;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
