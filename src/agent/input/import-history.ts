import type {
  ModelMessage,
  UIMessage,
  AssistantModelMessage,
  ToolCallPart,
  ToolModelMessage,
  ToolResultPart,
} from 'ai';
import type { z } from 'zod';
import { readErrorText } from '../../content/app-errors.ts';
import { HoldpointError } from '../../errors.ts';
import { isEqualJson } from '../../policy/digest.ts';
import type { PrincipalId } from '../../policy/same-person.ts';
import { listUnshown, readForm } from '../../json/json-form.ts';
import { importedMessageSchemas, convertFromUIMessage } from '../model/message-schemas.ts';
import { omitItemId } from '../model/record-step.ts';
import { findFileFault, hasContent, parseActor, type AnswerOptions } from './parse-input.ts';
import { isForHoldPoint, listImportedMessages, withMessageId } from '../../thread/app-messages.ts';
import { copyAsLogged, toJson } from '../../json/tagged-json.ts';
import type { ThreadLog } from '../../thread/thread-log.ts';

/** A conversation from elsewhere that a new thread begins with. */
export interface ImportedHistory extends AnswerOptions {
  /** The AI SDK's model messages or its UI messages, oldest first. */
  messages: readonly ModelMessage[] | readonly UIMessage[];
  /**
   * The treatment of a tool call without a result. `refuse`, the default: the import is refused with its position. `close`: the call gets a
   * result that says that it was open, and the model may propose it again. Open calls that the provider runs are always refused.
   */
  openCalls?: 'refuse' | 'close';
}

/** A checked history. */
interface ParsedHistory {
  messages: ModelMessage[];
  by: AnswerOptions;
}

interface HistorySettings {
  allowSystemInMessages?: boolean | undefined;
  principalId: PrincipalId;
}

/** Checks a history before anything is written. Throws `invalid-input` with the position of a message that can't be kept. */
export async function parseHistory(
  { messages, openCalls = 'refuse', principal, channel }: ImportedHistory,
  { allowSystemInMessages, principalId }: HistorySettings,
): Promise<ParsedHistory> {
  const sender = {
    ...(principal !== undefined && { principal }),
    ...(channel !== undefined && { channel }),
  };
  const by = parseActor(sender, principalId);
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

/** Begins a new thread with a history. Throws `thread-diverged` for a thread that began differently. */
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

/** An unvalidated message of a history, and its position. */
interface AtPosition {
  position: string;
  message: unknown;
  /** Finds the place of a part, if the message was made from a UI message, whose parts have other indices. */
  placeOf?: (part: MessagePart) => string;
}

/** A call of a history that has no result yet. */
interface OpenCall {
  position: string;
  toolCallId: string;
  toolName: string;
  isProviders: boolean;
  /** Absent without an approval request; `undefined` while that has no answer. */
  approval?: { approved: boolean | undefined };
}

type MessagePart = Exclude<ModelMessage['content'], string>[number];
type AssistantPart = Exclude<AssistantModelMessage['content'], string>[number];
type ToolPart = ToolModelMessage['content'][number];

const closedText =
  'The call was open when the conversation was imported; it is not known whether it ran.';
const deniedText = 'The call was not approved when the conversation was imported, and did not run.';

/**
 * Checks the messages of a history in order: each call must have one result, so that no provider rejects the history and no call in it is
 * open.
 */
class HistoryCheck {
  readonly #options: { closes: boolean; allowSystemInMessages: boolean | undefined };
  readonly #messages: ModelMessage[] = [];
  /** The open calls, by the id in the history; a repeated id is replaced in the thread. */
  readonly #open = new Map<string, OpenCall>();
  readonly #callIds = new Set<string>();
  /** The calls with open requests, by approval id. An entry is removed by its answer. */
  readonly #requests = new Map<string, OpenCall>();
  readonly #approvalIds = new Set<string>();

  constructor(options: { closes: boolean; allowSystemInMessages: boolean | undefined }) {
    this.#options = options;
  }

  /** Takes the next message. Throws `invalid-input` with the position of a message that can't be kept. */
  add(item: AtPosition): void {
    const { position } = item;
    const message = this.#parsed(item);
    if (isForHoldPoint(message)) {
      throw makeImportError(position, 'a message of answerMessage or resumeMessage is no history');
    }
    if (!hasContent(message)) throw makeImportError(position, 'the message is empty');
    if (message.role !== 'tool') this.#endCalls(message.role !== 'assistant');
    const placeOf = (part: MessagePart, index: number): string =>
      item.placeOf?.(part) ?? `${position}.content[${index}]`;
    const parts = typeof message.content === 'string' ? [] : message.content;
    for (const [index, part] of parts.entries()) {
      const fault = findFileFault(part);
      if (fault !== undefined) throw makeImportError(placeOf(part, index), fault);
    }
    this.#messages.push(this.#added(message, placeOf));
  }

  /** Returns all messages. Throws `invalid-input` if a call is open. */
  end(): ModelMessage[] {
    this.#endCalls(true);
    return this.#messages;
  }

  #added(
    message: ModelMessage,
    placeOf: (part: MessagePart, index: number) => string,
  ): ModelMessage {
    if (message.role === 'assistant' && typeof message.content !== 'string') {
      const content = message.content.map((part, index) =>
        this.#addAssistantPart(part, placeOf(part, index)),
      );
      return { ...message, content };
    }
    if (message.role !== 'tool') return message;
    const before = new Set(this.#open.keys());
    const content = message.content.map((part, index) =>
      this.#addToolPart(part, placeOf(part, index), before),
    );
    return { ...message, content };
  }

  #parsed({ position, message }: AtPosition): ModelMessage {
    const role: unknown =
      typeof message === 'object' && message !== null && 'role' in message
        ? message.role
        : undefined;
    if (role !== 'user' && role !== 'assistant' && role !== 'tool' && role !== 'system') {
      throw makeImportError(position, `the role ${JSON.stringify(role)} is not known`);
    }
    if (role === 'system' && this.#options.allowSystemInMessages !== true) {
      throw makeImportError(position, 'a system message needs allowSystemInMessages: true');
    }
    const parsed = importedMessageSchemas[role].safeParse(message);
    if (parsed.success) return parsed.data;
    const place = locatePart(parsed.error);
    throw makeImportError(
      `${position}${place}`,
      `not a valid ${role} message of the AI SDK`,
      parsed.error,
    );
  }

  #addAssistantPart(part: AssistantPart, position: string): AssistantPart {
    if (part.type === 'tool-call') return this.#addCall(part, position);
    if (part.type === 'tool-result') return this.#addResult(part, position);
    if (part.type !== 'tool-approval-request') return part;
    const { approvalId, toolCallId } = part;
    const call = this.#open.get(toolCallId);
    if (call === undefined || call.approval !== undefined || this.#approvalIds.has(approvalId)) {
      throw makeImportError(
        position,
        `the approval request ${approvalId} is repeated, or its call ${toolCallId} is not open`,
      );
    }
    call.approval = { approved: undefined };
    this.#approvalIds.add(approvalId);
    this.#requests.set(approvalId, call);
    return { ...part, toolCallId: call.toolCallId };
  }

  #addCall(part: ToolCallPart, position: string): ToolCallPart {
    const { toolCallId, toolName, input } = part;
    const isProviders = part.providerExecuted === true;
    /* The AI SDK's own messages contain the values that schemas made from the inputs, such as dates. */
    const form = readForm(input);
    if ('fault' in form)
      throw makeImportError(position, `the input of call ${toolCallId} is not JSON: ${form.fault}`);
    const [unshown] = listUnshown(form.types);
    if (unshown !== undefined)
      throw makeImportError(
        position,
        `the input of call ${toolCallId} has a value that JSON has no form for: ${JSON.stringify(unshown.path)} (${unshown.type})`,
      );
    const { json } = form;
    const isRepeated = this.#callIds.has(toolCallId);
    if (isRepeated && (isProviders || this.#open.has(toolCallId)))
      throw makeImportError(position, `the call id ${toolCallId} is repeated`);
    const newId = isRepeated ? this.#unusedId(toolCallId) : toolCallId;
    this.#callIds.add(newId);
    this.#open.set(toolCallId, { position, toolCallId: newId, toolName, isProviders });
    const recorded = { ...part, input: json };
    return isRepeated
      ? { ...recorded, toolCallId: newId, providerOptions: omitItemId(part.providerOptions) }
      : recorded;
  }

  /* Providers reject repeated ids. The new one derives from the old one, so that the same history is the same thread. */
  #unusedId(toolCallId: string): string {
    let count = 2;
    while (this.#callIds.has(`${toolCallId}_${count}`)) count += 1;
    return `${toolCallId}_${count}`;
  }

  #addToolPart(part: ToolPart, position: string, openBefore: ReadonlySet<string>): ToolPart {
    if (part.type === 'tool-result') return this.#addResult(part, position);
    const { approvalId, approved } = part;
    const call = this.#requests.get(approvalId);
    const isOpen = [...this.#open].some(([id, each]) => each === call && openBefore.has(id));
    /* The AI SDK runs an approved call whose result it does not find in the same message. */
    if (call === undefined || !isOpen) {
      throw makeImportError(position, `no open request has the approval id ${approvalId}`);
    }
    this.#requests.delete(approvalId);
    call.approval = { approved };
    return part;
  }

  #addResult(part: ToolResultPart, position: string): ToolResultPart {
    const { toolCallId, toolName } = part;
    const call = this.#open.get(toolCallId);
    if (call?.toolName !== toolName) {
      throw makeImportError(
        position,
        `the result has no open call ${toolCallId} of the tool '${toolName}'`,
      );
    }
    this.#open.delete(toolCallId);
    return { ...part, toolCallId: call.toolCallId };
  }

  /* A provider may report the result of its own call in its next message. */
  #endCalls(andProviders: boolean): void {
    const ending = [...this.#open].filter(([, call]) => andProviders || !call.isProviders);
    const open = ending.map(([, call]) => call);
    const kept = open.find(({ isProviders }) => isProviders || !this.#options.closes);
    if (kept !== undefined) {
      const hint = kept.isProviders
        ? 'remove the call'
        : "remove the call, or pass openCalls: 'close'";
      throw makeImportError(kept.position, `the call ${kept.toolCallId} has no result; ${hint}`);
    }
    if (open.length === 0) return;
    this.#messages.push({ role: 'tool', content: open.map(closeCall) });
    for (const [id] of ending) this.#open.delete(id);
  }
}

function closeCall({ toolCallId, toolName, approval }: OpenCall): ToolResultPart {
  const mayHaveRun = approval === undefined || approval.approved === true;
  const output = mayHaveRun
    ? ({ type: 'error-text', value: closedText } as const)
    : ({ type: 'execution-denied', reason: deniedText } as const);
  return { type: 'tool-result', toolCallId, toolName, output };
}

/* Finds the part that does not match: the schema of the content is a union of text and parts. */
function locatePart({ issues }: z.ZodError): string {
  const paths = issues.flatMap((issue) =>
    issue.code === 'invalid_union'
      ? issue.errors.flat().map(({ path }) => [...issue.path, ...path])
      : [issue.path],
  );
  const path = paths.find(([key, index]) => key === 'content' && typeof index === 'number');
  return path === undefined ? '' : `.content[${String(path[1])}]`;
}

/** The error for a message that can't be imported. */
export function makeImportError(position: string, fault: string, cause?: unknown): HoldpointError {
  return new HoldpointError(
    'invalid-input',
    `${position}: ${fault.replace(/\.$/, '')}. Nothing was imported.`,
    { cause },
  );
}
