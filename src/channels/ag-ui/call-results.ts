import type { ToolModelMessage } from 'ai';
import { callErrorText, renderToolError } from '../../http/error-response.ts';
import type { AssistantPart } from '../../thread/proposed-calls.ts';
import {
  type CallEnd,
  readResult,
  type ShownDecision,
  type ViewItem,
} from '../../view/thread-items.ts';
import type { AgUiViewOptions } from './ag-ui-handler-options.ts';
import type { AgUiEvent, AgUiMessage, AgUiToolCall, ResultMetadata } from './ag-ui-event.ts';

type CallEnded = Extract<ViewItem, { type: 'call-ended' }>;
type ToolPart = ToolModelMessage['content'][number];

/** The result of a call, as a client gets it. */
export interface CallResult {
  toolCallId: string;
  content: string;
  status: ResultMetadata['holdpoint']['status'];
  decision?: ShownDecision;
}

/** Reads the result of a call that ended here; none if the provider reports its result. `decisions` are those of the thread, by request. */
export function readCallResults(
  { call, end }: CallEnded,
  decisions: ReadonlyMap<string, ShownDecision>,
  options: AgUiViewOptions,
): CallResult[] {
  const { toolCallId, toolName, requestId = '' } = call;
  const decision = decisions.get(requestId);
  return writeResult(toolCallId, end, (error) => callErrorText(options, toolName, error)).map(
    (result) => ({ ...result, ...(decision && { decision }) }),
  );
}

/** Reads the result in a part of a message; none in any other part. */
export function readPartResults(
  part: AssistantPart | ToolPart,
  options: AgUiViewOptions,
): CallResult[] {
  if (part.type !== 'tool-result') return [];
  return writeResult(part.toolCallId, readResult(part), (error) => renderToolError(options, error));
}

function writeResult(
  toolCallId: string,
  end: CallEnd,
  writeError: (error: string) => string,
): CallResult[] {
  switch (end.status) {
    case 'succeeded':
      return [{ toolCallId, status: end.status, content: writeValue(end.output) }];
    case 'failed': {
      const error = end.value === undefined ? end.error : writeValue(end.value);
      return [{ toolCallId, status: end.status, content: writeError(error) }];
    }
    case 'denied': {
      const { status, reason = 'The call was not allowed, and did not run.' } = end;
      return [{ toolCallId, status, content: reason }];
    }
    case 'forwarded':
      return [];
  }
}

/** Writes a value as text, because a result in AG-UI can't be JSON. */
function writeValue(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** The event of a result during a run. */
export function makeResultEvent(threadId: string, result: CallResult): AgUiEvent {
  const { toolCallId, content } = result;
  return {
    type: 'TOOL_CALL_RESULT',
    messageId: makeResultId(threadId, toolCallId),
    toolCallId,
    content,
    role: 'tool',
    metadata: makeResultMetadata(result),
  };
}

/** The message of a result in a snapshot, with the id that the client has for it. */
export function makeClientResultMessage(
  threadId: string,
  result: CallResult,
  id: string = makeResultId(threadId, result.toolCallId),
): AgUiMessage {
  const { toolCallId, content } = result;
  return { id, role: 'tool', toolCallId, content, metadata: makeResultMetadata(result) };
}

function makeResultMetadata({ status, decision }: CallResult): ResultMetadata {
  return { holdpoint: { status, ...(decision && { decision }) } };
}

function makeResultId(threadId: string, toolCallId: string): string {
  return `${threadId}:result:${toolCallId}`;
}

/** The calls that a message of a client makes. */
interface CallsOfMessage {
  messageId: string;
  calls: AgUiToolCall[];
}

/**
 * The calls that a client has, by their ids: each once, with one result. A provider repeats a call that it runs itself in the step that
 * has its result.
 */
export class KnownCalls {
  /** The message that made the call. */
  readonly #callers = new Map<string, string>();
  readonly #ended = new Set<string>();

  constructor(messages: readonly AgUiMessage[] = []) {
    for (const message of messages) {
      if (message.role === 'tool') this.#ended.add(message.toolCallId);
      if (message.role !== 'assistant') continue;
      for (const { id } of message.toolCalls ?? []) this.#callers.set(id, message.id);
    }
  }

  /** The message that made a call. */
  findCaller(toolCallId: string): string | undefined {
    return this.#callers.get(toolCallId);
  }

  /** The new calls of a step; adds them to the known ones. */
  addCalls({ messageId, calls }: CallsOfMessage): AgUiToolCall[] {
    return calls.filter(({ id }) => {
      const isNew = !this.#callers.has(id);
      if (isNew) this.#callers.set(id, messageId);
      return isNew;
    });
  }

  /** The results that are the first of their call; adds them to the known ones. */
  addResults(results: readonly CallResult[]): CallResult[] {
    return results.filter(({ toolCallId }) => {
      const isNew = this.#callers.has(toolCallId) && !this.#ended.has(toolCallId);
      if (isNew) this.#ended.add(toolCallId);
      return isNew;
    });
  }
}
