import type { ToolResultPart } from 'ai';
import type { DeliveredOutcome } from '../../../agent/input/accept-outcome.ts';
import { type ResultPart, resultPartsSchema, type ToolResultMessage } from './callback-message.ts';

const errorPrefix = 'Error: ';

/** What a `tool_result` makes of its call: `content` counts before `text`, and a text that begins with `Error: ` is a failure. */
export function resultOutcome({ text, content }: ToolResultMessage): DeliveredOutcome {
  const parts: ResultPart[] = content ?? [{ type: 'text', text: text ?? '' }];
  const said = parts.map((part) => (part.type === 'text' ? part.text : undefined));
  if (!said.includes(undefined) && said[0]?.startsWith(errorPrefix) === true) {
    return { status: 'failed', error: said.join('\n') };
  }
  return { status: 'succeeded', output: content ?? text };
}

/** A result as the model sees it. */
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
