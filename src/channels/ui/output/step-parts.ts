import type { ProviderMetadata, ToolCallPart, ToolResultPart, UIMessageChunk } from 'ai';
import { fileUrl } from '../../../content/file-url.ts';
import { type AssistantPart, partsOf } from '../../../thread/proposed-calls.ts';
import type { Source } from '../../../thread/step-metadata.ts';
import type { ThreadEventOf } from '../../../thread/thread-event.ts';
import { isBlank } from '../../../view/streamed-step.ts';
import { toolErrorText } from '../../../http/tool-error-text.ts';
import { type ThreadViewOptions, toolPartFields } from './thread-view-options.ts';

/** A part of a recorded step that is a part of its message on the page. */
export type StepPart =
  | { type: 'text' | 'reasoning'; text: string }
  | { type: 'tool'; toolCallId: string; toolName: string; available: UIMessageChunk }
  | { type: 'other'; chunk: UIMessageChunk };

/** A recorded step, as a page shows it. */
export interface StepParts {
  parts: StepPart[];
  /** The results of calls that the provider ran itself, in this step or an earlier one. */
  results: { toolCallId: string; chunk: UIMessageChunk }[];
}

/**
 * The parts of a recorded step, sources last. Blank texts are left out, and so is the provider's metadata of texts and calls, which
 * only the thread needs.
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
      return isBlank(part.text) ? [] : [{ type: 'text', text: part.text }];
    case 'reasoning':
      if (!sendReasoning || isBlank(part.text)) return [];
      return [{ type: 'reasoning', text: part.text }];
    case 'tool-call':
      return [toolPart(part, options)];
    case 'file':
      return filePart(part.type, part);
    case 'reasoning-file':
      return sendReasoning ? filePart(part.type, part) : [];
    case 'custom': {
      const { kind, providerOptions } = part;
      return [{ type: 'other', chunk: { type: 'custom', kind, ...metadataOf(providerOptions) } }];
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
  return [{ type: 'other', chunk: { type, url, mediaType, ...metadataOf(providerOptions) } }];
}

function sourcePart(source: Source): StepPart {
  const { id: sourceId, title, providerMetadata } = source;
  if (source.sourceType === 'url') {
    const { url } = source;
    const titled = title === undefined ? {} : { title };
    return {
      type: 'other',
      chunk: { type: 'source-url', sourceId, url, ...titled, ...metadataOf(providerMetadata) },
    };
  }
  const { mediaType, filename } = source;
  const chunk: UIMessageChunk = {
    type: 'source-document',
    sourceId,
    mediaType,
    title: title ?? '',
    ...(filename === undefined ? {} : { filename }),
    ...metadataOf(providerMetadata),
  };
  return { type: 'other', chunk };
}

function metadataOf(providerMetadata: ProviderMetadata | undefined): {
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
