import type { ModelMessage, ToolCallPart, ToolResultPart, UIMessageChunk } from 'ai';
import { fileUrl } from '../../content/file-url.ts';
import { type TellingOptions, toolLook } from './telling-options.ts';

/** A part of a recorded step that is a part of its own on the page. */
export type StepPiece =
  | { type: 'text' | 'reasoning'; text: string }
  | { type: 'tool'; toolCallId: string; toolName: string; available: UIMessageChunk }
  | { type: 'other'; chunk: UIMessageChunk };

/** A recorded step, as a page shows it. */
export interface StepContent {
  pieces: StepPiece[];
  /** What calls came to that the provider ran itself, in this step or one before. */
  results: { toolCallId: string; chunk: UIMessageChunk }[];
}

/** What a recorded step shows. Blank texts are left out, as are the provider's notes: only the thread needs them. */
export function stepContent(
  message: ModelMessage | undefined,
  options: TellingOptions,
): StepContent {
  const pieces: StepPiece[] = [];
  const results: StepContent['results'] = [];
  if (message?.role !== 'assistant') return { pieces, results };
  const { content } = message;
  const parts: AssistantPart[] =
    typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  for (const part of parts) {
    if (part.type === 'tool-result') {
      results.push({ toolCallId: part.toolCallId, chunk: resultChunk(part) });
    } else pieces.push(...piecesOf(part, options));
  }
  return { pieces, results };
}

type AssistantContent = Extract<ModelMessage, { role: 'assistant' }>['content'];
type AssistantPart = Exclude<AssistantContent, string>[number];

function piecesOf(part: AssistantPart, options: TellingOptions): StepPiece[] {
  const { sendReasoning = true } = options;
  switch (part.type) {
    case 'text':
      return part.text.trim() === '' ? [] : [{ type: 'text', text: part.text }];
    case 'reasoning':
      if (!sendReasoning || part.text.trim() === '') return [];
      return [{ type: 'reasoning', text: part.text }];
    case 'tool-call':
      return [toolPiece(part, options)];
    case 'file':
      return filePiece(part.type, part);
    case 'reasoning-file':
      return sendReasoning ? filePiece(part.type, part) : [];
    case 'custom': {
      const { kind, providerOptions: providerMetadata } = part;
      const notes = providerMetadata === undefined ? {} : { providerMetadata };
      return [{ type: 'other', chunk: { type: 'custom', kind, ...notes } }];
    }
    default:
      return [];
  }
}

function toolPiece(
  { toolCallId, toolName, input, providerExecuted }: ToolCallPart,
  options: TellingOptions,
): StepPiece {
  const available: UIMessageChunk = {
    type: 'tool-input-available',
    toolCallId,
    toolName,
    input,
    ...(providerExecuted === true ? { providerExecuted } : {}),
    ...toolLook(options, toolName),
  };
  return { type: 'tool', toolCallId, toolName, available };
}

function filePiece(
  type: 'file' | 'reasoning-file',
  { data, mediaType }: { data: unknown; mediaType: string },
): StepPiece[] {
  const url = fileUrl(data, mediaType);
  return url === undefined ? [] : [{ type: 'other', chunk: { type, url, mediaType } }];
}

function resultChunk({ toolCallId, output }: ToolResultPart): UIMessageChunk {
  const providerExecuted = true;
  switch (output.type) {
    case 'execution-denied':
      return { type: 'tool-output-denied', toolCallId };
    case 'error-text':
      return {
        type: 'tool-output-error',
        toolCallId,
        errorText: output.value,
        providerExecuted,
      };
    case 'error-json': {
      const errorText = JSON.stringify(output.value);
      return { type: 'tool-output-error', toolCallId, errorText, providerExecuted };
    }
    default:
      return { type: 'tool-output-available', toolCallId, output: output.value, providerExecuted };
  }
}
