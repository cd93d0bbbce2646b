import type { ToolResultPart } from 'ai';
import type { DeliveredOutcome } from '../../../agent/input.ts';
import { type ResultPart, resultPartsSchema, type ToolResultMessage } from './callback-message.ts';

const errorPrefix = 'Error: ';

/** The outcome that a `tool_result` reports. `content` takes precedence over `text`; a text that begins with `Error: ` is a failure. */
export function resultOutcome({ text, content }: ToolResultMessage): DeliveredOutcome {
  const parts: ResultPart[] = content ?? [{ type: 'text', text: text ?? '' }];
  const texts = parts.map((part) => (part.type === 'text' ? part.text : undefined));
  if (!texts.includes(undefined) && texts[0]?.startsWith(errorPrefix) === true) {
    return { status: 'failed', error: texts.join('\n') };
  }
  return { status: 'succeeded', output: content ?? text };
}

/** A result in the form that the model reads. */
export function resultForModel(output: unknown): ToolResultPart['output'] {
  if (typeof output === 'string') return { type: 'text', value: output };
  return { type: 'content', value: resultPartsSchema.parse(output).map(partForModel) };
}

type ModelPart = Extract<ToolResultPart['output'], { type: 'content' }>['value'][number];

function partForModel(part: ResultPart): ModelPart {
  if (part.type === 'text') return { type: 'text', text: part.text };
  const { data, mediaType } = part;
  return { type: 'file', data: { type: 'data', data }, mediaType };
}
