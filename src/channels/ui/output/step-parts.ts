import type { ProviderMetadata, ToolCallPart, ToolResultPart, UIMessageChunk } from 'ai';
import { fileUrl } from '../../../content/file-url.ts';
import { type AssistantPart, partsOf } from '../../../thread/proposed-calls.ts';
import type { Source, ThreadEventOf } from '../../../thread/thread-event.ts';
import { type ThreadViewOptions, toolErrorText, toolPartFields } from './thread-view-options.ts';

/** A part of a recorded step that is a part of its own on the page. */
export type StepPart =
  | { type: 'text' | 'reasoning'; text: string }
  | { type: 'tool'; toolCallId: string; toolName: string; available: UIMessageChunk }
  | { type: 'other'; chunk: UIMessageChunk };

/** A recorded step, as a page shows it. */
export interface StepParts {
  parts: StepPart[];
  /** What calls came to that the provider ran itself, in this step or one before. */
  results: { toolCallId: string; chunk: UIMessageChunk }[];
}

/**
 * What a recorded step shows, sources last. Blank texts are left out, and so are the provider's notes on texts and calls: only the
 * thread needs them.
 */
export function stepParts(
  { message, metadata }: Pick<ThreadEventOf<'step-finished'>, 'message' | 'metadata'>,
  options: ThreadViewOptions,
): StepParts {
  const { sendSources = true } = options;
  const parts: StepPart[] = [];
  const results: StepParts['results'] = [];
  for (const part of partsOf(message)) {
    if (part.type === 'tool-result') {
      results.push({ toolCallId: part.toolCallId, chunk: resultChunk(part, options) });
    } else parts.push(...pagePartsOf(part, options));
  }
  const sources = sendSources ? (metadata?.sources ?? []) : [];
  parts.push(...sources.map(sourcePart));
  return { parts, results };
}

function pagePartsOf(part: AssistantPart, options: ThreadViewOptions): StepPart[] {
  const { sendReasoning = true } = options;
  switch (part.type) {
    case 'text':
      return part.text.trim() === '' ? [] : [{ type: 'text', text: part.text }];
    case 'reasoning':
      if (!sendReasoning || part.text.trim() === '') return [];
      return [{ type: 'reasoning', text: part.text }];
    case 'tool-call':
      return [toolPart(part, options)];
    case 'file':
      return filePart(part.type, part);
    case 'reasoning-file':
      return sendReasoning ? filePart(part.type, part) : [];
    case 'custom': {
      const { kind, providerOptions } = part;
      return [{ type: 'other', chunk: { type: 'custom', kind, ...notes(providerOptions) } }];
    }
    default:
      return [];
  }
}

function toolPart(
  { toolCallId, toolName, input, providerExecuted }: ToolCallPart,
  options: ThreadViewOptions,
): StepPart {
  const available: UIMessageChunk = {
    type: 'tool-input-available',
    toolCallId,
    toolName,
    input,
    ...(providerExecuted === true ? { providerExecuted } : {}),
    ...toolPartFields(options, toolName),
  };
  return { type: 'tool', toolCallId, toolName, available };
}

function filePart(
  type: 'file' | 'reasoning-file',
  {
    data,
    mediaType,
    providerOptions,
  }: { data: unknown; mediaType: string; providerOptions?: ProviderMetadata },
): StepPart[] {
  const url = fileUrl(data, mediaType);
  if (url === undefined) return [];
  return [{ type: 'other', chunk: { type, url, mediaType, ...notes(providerOptions) } }];
}

function sourcePart(source: Source): StepPart {
  const { id: sourceId, title, providerMetadata } = source;
  if (source.sourceType === 'url') {
    const { url } = source;
    const titled = title === undefined ? {} : { title };
    return {
      type: 'other',
      chunk: { type: 'source-url', sourceId, url, ...titled, ...notes(providerMetadata) },
    };
  }
  const { mediaType, filename } = source;
  const chunk: UIMessageChunk = {
    type: 'source-document',
    sourceId,
    mediaType,
    title: title ?? '',
    ...(filename === undefined ? {} : { filename }),
    ...notes(providerMetadata),
  };
  return { type: 'other', chunk };
}

function notes(providerMetadata: ProviderMetadata | undefined): {
  providerMetadata?: ProviderMetadata;
} {
  return providerMetadata === undefined ? {} : { providerMetadata };
}

function resultChunk(
  { toolCallId, output }: ToolResultPart,
  options: ThreadViewOptions,
): UIMessageChunk {
  const providerExecuted = true;
  const failed = (error: string): UIMessageChunk => {
    const errorText = toolErrorText(options, error);
    return { type: 'tool-output-error', toolCallId, errorText, providerExecuted };
  };
  switch (output.type) {
    case 'execution-denied':
      return { type: 'tool-output-denied', toolCallId };
    case 'error-text':
      return failed(output.value);
    case 'error-json':
      return failed(JSON.stringify(output.value));
    default:
      return { type: 'tool-output-available', toolCallId, output: output.value, providerExecuted };
  }
}
