import type { ModelDelta } from '../../../agent.ts';
import type { ToolCall } from '../../../content/tool-call.ts';
import { makeFileUrl } from '../../../content/message-file.ts';
import { type AssistantPart, listAssistantParts } from '../../../thread/proposed-calls.ts';
import type { Source } from '../../../thread/events.ts';
import { type CallEnd, readResult, type FinishedStepEvent } from '../../../view/thread-items.ts';
import {
  endText,
  isBlank,
  type StreamedPart,
  StreamedStep,
  type TextChange,
} from '../../../view/streamed-step.ts';
import type { ThreadViewOptions } from '../ui-handler-options.ts';
import { type AvailableChunk, readToolMetadata } from './call-chunks.ts';
import type { ProviderMetadata, ToolCallPart, UIMessageChunk } from 'ai';

/** A part of a recorded step that the page's message has too. */
type StepPart =
  | { type: 'text' | 'reasoning'; text: string }
  | { type: 'tool'; toolCallId: string; toolName: string; available: AvailableChunk }
  | { type: 'other'; chunk: UIMessageChunk };

/** A recorded step, as a page shows it. */
interface StepParts {
  parts: StepPart[];
  /** The ends of calls that the provider ran itself, in this step or an earlier one. */
  ends: { call: Pick<ToolCall, 'toolCallId'>; end: CallEnd }[];
}

/**
 * The chunks of a turn's steps: the model's stream, then the missing rest of the recorded step. If the two differ, because ids were
 * renamed, blank texts were dropped, or another worker took the step, the page drops the step and gets the recorded one.
 */
export class StepChunks {
  readonly #options: ThreadViewOptions;
  #step = 0;
  #isOpen = false;
  /** The calls that are streamed, by their ids. */
  readonly #tools = new Set<string>();
  #streamed: StreamedStep;

  constructor(options: ThreadViewOptions) {
    this.#options = options;
    this.#streamed = this.#newStep();
  }

  /** The chunks for a delta of the model. */
  ofDelta(delta: ModelDelta): UIMessageChunk[] {
    const chunks = this.#partOf(delta);
    if (chunks.length === 0 || this.#isOpen) return chunks;
    this.#isOpen = true;
    return [{ type: 'start-step' }, ...chunks];
  }

  /** Completes a recorded step: emits the missing rest of it, or all of it. */
  finish(parts: readonly StepPart[]): UIMessageChunk[] {
    const streamed = this.#streamed.parts;
    const isConfirmed = streamed.every((part, index) => isSame(part, parts[index]));
    const chunks = [
      ...this.#opening(isConfirmed),
      ...this.#rest(parts, isConfirmed ? streamed : []),
    ];
    this.#step += 1;
    this.#clear();
    return chunks;
  }

  /** Makes the page drop a streamed step that will not be finished in this stream. */
  reset(): UIMessageChunk[] {
    const isOpen = this.#isOpen;
    this.#clear();
    return isOpen ? [{ type: 'reset-step' }] : [];
  }

  #opening(isConfirmed: boolean): UIMessageChunk[] {
    if (!this.#isOpen) return [{ type: 'start-step' }];
    return isConfirmed ? [] : [{ type: 'reset-step' }];
  }

  /**
   * Makes the chunks for the missing rest of the recorded parts. The page has the first ones as they were `streamed`, calls without their
   * inputs.
   */
  #rest(parts: readonly StepPart[], streamed: readonly StreamedPart[]): UIMessageChunk[] {
    let blocks = 0;
    return parts.flatMap((part, index): UIMessageChunk[] => {
      if (part.type === 'tool') return [part.available];
      if (part.type === 'other') return [part.chunk];
      const { type, text: delta } = part;
      const id = this.#blockId(blocks);
      blocks += 1;
      const sent = streamed[index];
      if (sent === undefined)
        return makeTextChunks({ type, id, isFirst: true, delta, isLast: true });
      return sent.type === 'tool' || sent.isEnded ? [] : makeTextChunks(endText(sent));
    });
  }

  #partOf(delta: ModelDelta): UIMessageChunk[] {
    switch (delta.type) {
      case 'text-start':
      case 'text-delta':
      case 'text-end':
      case 'reasoning-start':
      case 'reasoning-delta':
      case 'reasoning-end':
        return this.#streamed.addText(delta).flatMap(makeTextChunks);
      case 'tool-input-start':
      case 'tool-input-delta':
      case 'tool-input-end':
        return this.#ofTool(delta);
      case 'source':
        /* The log does not record where in the step it was cited, so it comes with the recorded step, live as after a reload. */
        return [];
    }
  }

  #ofTool(delta: Extract<ModelDelta, { type: `tool-${string}` }>): UIMessageChunk[] {
    if (delta.type === 'tool-input-start') {
      const { id: toolCallId, toolName, providerExecuted } = delta;
      this.#streamed.addTool(toolCallId, toolName);
      this.#tools.add(toolCallId);
      const executed = providerExecuted === true ? { providerExecuted } : {};
      const fields = makeToolPartFields(this.#options, toolName);
      return [{ type: 'tool-input-start', toolCallId, toolName, ...executed, ...fields }];
    }
    if (delta.type !== 'tool-input-delta' || !this.#tools.has(delta.id)) return [];
    return [{ type: delta.type, toolCallId: delta.id, inputTextDelta: delta.delta }];
  }

  #newStep(): StreamedStep {
    const { sendReasoning = true } = this.#options;
    return new StreamedStep({
      makeId: (_type, before) =>
        this.#blockId(before.filter((part) => part.type !== 'tool').length),
      sendReasoning,
    });
  }

  #blockId(index: number): string {
    return `${this.#step}.${index}`;
  }

  #clear(): void {
    this.#isOpen = false;
    this.#tools.clear();
    this.#streamed = this.#newStep();
  }
}

function isSame(streamed: StreamedPart, recorded: StepPart | undefined): boolean {
  if (streamed.type === 'tool') {
    return (
      recorded?.type === 'tool' &&
      recorded.toolCallId === streamed.toolCallId &&
      recorded.toolName === streamed.toolName
    );
  }
  return recorded?.type === streamed.type && 'text' in recorded && recorded.text === streamed.text;
}

/** Makes the chunks of a text that begins, continues or ends. */
function makeTextChunks({ type, id, isFirst, delta, isLast }: TextChange): UIMessageChunk[] {
  const chunks: UIMessageChunk[] = [];
  if (isFirst) chunks.push({ type: `${type}-start`, id });
  if (delta !== undefined) chunks.push({ type: `${type}-delta`, id, delta });
  if (isLast) chunks.push({ type: `${type}-end`, id });
  return chunks;
}

/**
 * Makes the parts of a recorded step, sources last. Blank texts are left out, and so is the provider's metadata of texts and calls, which
 * only the thread needs.
 */
export function makeStepParts(
  { message, metadata }: Pick<FinishedStepEvent, 'message' | 'metadata'>,
  options: ThreadViewOptions,
): StepParts {
  const { sendSources = true } = options;
  const parts: StepPart[] = [];
  const ends: StepParts['ends'] = [];
  for (const part of listAssistantParts(message)) {
    if (part.type === 'tool-result') {
      ends.push({ call: part, end: readResult(part) });
    } else parts.push(...toPageParts(part, options));
  }
  const sources = sendSources ? (metadata?.sources ?? []) : [];
  parts.push(...sources.map(makeSourcePart));
  return { parts, ends };
}

function toPageParts(part: AssistantPart, options: ThreadViewOptions): StepPart[] {
  const { sendReasoning = true } = options;
  switch (part.type) {
    case 'text':
      return isBlank(part.text) ? [] : [{ type: 'text', text: part.text }];
    case 'reasoning':
      if (!sendReasoning || isBlank(part.text)) return [];
      return [{ type: 'reasoning', text: part.text }];
    case 'tool-call':
      return [makeToolPart(part, options)];
    case 'file':
      return makeFilePart(part.type, part);
    case 'reasoning-file':
      return sendReasoning ? makeFilePart(part.type, part) : [];
    case 'custom': {
      const { kind, providerOptions } = part;
      return [{ type: 'other', chunk: { type: 'custom', kind, ...pickMetadata(providerOptions) } }];
    }
    case 'tool-result':
    case 'tool-approval-request':
      return [];
  }
}

function makeToolPart(
  { toolCallId, toolName, input, providerExecuted }: ToolCallPart,
  options: ThreadViewOptions,
): StepPart {
  const available: AvailableChunk = {
    type: 'tool-input-available',
    toolCallId,
    toolName,
    input,
    ...(providerExecuted === true ? { providerExecuted } : {}),
    ...makeToolPartFields(options, toolName),
  };
  return { type: 'tool', toolCallId, toolName, available };
}

function makeFilePart(
  type: 'file' | 'reasoning-file',
  {
    data,
    mediaType,
    providerOptions,
  }: { data: unknown; mediaType: string; providerOptions?: ProviderMetadata },
): StepPart[] {
  const url = makeFileUrl(data, mediaType);
  if (url === undefined) return [];
  return [{ type: 'other', chunk: { type, url, mediaType, ...pickMetadata(providerOptions) } }];
}

function makeSourcePart(source: Source): StepPart {
  const { id: sourceId, title, providerMetadata } = source;
  if (source.sourceType === 'url') {
    const { url } = source;
    const titled = title === undefined ? {} : { title };
    return {
      type: 'other',
      chunk: { type: 'source-url', sourceId, url, ...titled, ...pickMetadata(providerMetadata) },
    };
  }
  const { mediaType, filename } = source;
  const chunk: UIMessageChunk = {
    type: 'source-document',
    sourceId,
    mediaType,
    title: title ?? '',
    ...(filename === undefined ? {} : { filename }),
    ...pickMetadata(providerMetadata),
  };
  return { type: 'other', chunk };
}

function pickMetadata(providerMetadata: ProviderMetadata | undefined): {
  providerMetadata?: ProviderMetadata;
} {
  return providerMetadata === undefined ? {} : { providerMetadata };
}

/** The fields that a tool part gets from its tool. */
interface ToolPartFields {
  dynamic?: true;
  title?: string;
  toolMetadata?: ReturnType<typeof readToolMetadata>;
}

/** The fields that the parts of a tool's calls get from the tool. */
function makeToolPartFields(options: ThreadViewOptions, toolName: string): ToolPartFields {
  const { tools, clientTools = [] } = options;
  const tool = tools !== undefined && Object.hasOwn(tools, toolName) ? tools[toolName] : undefined;
  const isDynamic = tools !== undefined && (tool === undefined || tool.type === 'dynamic');
  const isOfClient = clientTools.includes(toolName);
  const metadata = readToolMetadata(options, toolName);
  const toolMetadata = isOfClient ? { ...metadata, clientTool: true } : metadata;
  return {
    ...(isDynamic ? { dynamic: true } : {}),
    ...(tool?.title === undefined ? {} : { title: tool.title }),
    ...(toolMetadata === undefined ? {} : { toolMetadata }),
  };
}
