import { z } from 'zod';
import { type Address, namesOf } from './runtime-messages.ts';

const partSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text'), text: z.string() }),
  /** `data` is base64. */
  z.strictObject({ type: z.literal('image'), data: z.string(), mediaType: z.string() }),
]);
const contentSchema = z.strictObject({ content: z.array(partSchema).min(1) });

/** What a `tool_result` says. */
export type ToolResult = { text: string } | z.infer<typeof contentSchema>;

/** What a tool returned, as a result. The work is done: what can't be sent is a success that says so, as an error would mislead. */
export function resultOfOutput(
  output: unknown,
  { address, maximumBytes }: { address: Address; maximumBytes: number },
): ToolResult {
  try {
    const result = toResult(output);
    const bytes = new Blob([JSON.stringify(resultMessage(address, result))]).size;
    return bytes <= maximumBytes
      ? result
      : { text: `It is done. The result has ${bytes} bytes, too many to be sent.` };
  } catch {
    return { text: 'It is done. The result can not be sent as JSON.' };
  }
}

/** The message that ends a call. */
export function resultMessage(address: Address, result: ToolResult): object {
  return { type: 'tool_result', ...namesOf(address), ...result };
}

/** What a tool threw, or why it did not run, as a result. */
export function resultOfError(error: unknown): { text: string } {
  const text = messageOf(error).slice(0, 10_000).toWellFormed();
  return { text: text.startsWith('Error: ') ? text : `Error: ${text}` };
}

function messageOf(error: unknown): string {
  try {
    const message = error instanceof Error ? error.message : error;
    if (typeof message === 'string' && message !== '') return message;
  } catch {
    /* Even to look at it is an error. */
  }
  return 'The tool failed.';
}

function toResult(output: unknown): ToolResult {
  if (typeof output === 'string') return { text: output };
  const { data } = contentSchema.safeParse(output);
  return data ?? { text: JSON.stringify(output) ?? 'It is done.' };
}
