import { z } from 'zod';
import { type CallAddress, callIds } from './runtime-messages.ts';

const partSchema = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text'), text: z.string() }),
  /** `data` is base64. */
  z.strictObject({ type: z.literal('image'), data: z.string(), mediaType: z.string() }),
]);
const contentSchema = z.strictObject({ content: z.array(partSchema).min(1) });

/** The content of a `tool_result`. */
export type ToolResult = { text: string } | z.infer<typeof contentSchema>;

/** The result for the output of a tool. An output that can't be sent is still a success, as the tool has run: an error would mislead. */
export function resultOfOutput(
  output: unknown,
  { address, maximumBytes }: { address: CallAddress; maximumBytes: number },
): ToolResult {
  try {
    const result = toResult(output);
    const bytes = new Blob([JSON.stringify(resultMessage(address, result))]).size;
    return bytes <= maximumBytes
      ? result
      : { text: `The tool succeeded. Its result has ${bytes} bytes, which is too many to send.` };
  } catch {
    return { text: "The tool succeeded. Its result can't be sent as JSON." };
  }
}

/** The message that ends a call. */
export function resultMessage(address: CallAddress, result: ToolResult): object {
  return { type: 'tool_result', ...callIds(address), ...result };
}

/** The result for what a tool threw, or for a call that did not run. */
export function resultOfError(error: unknown): { text: string } {
  const text = failureText(error).slice(0, 10_000).toWellFormed();
  return { text: text.startsWith('Error: ') ? text : `Error: ${text}` };
}

function failureText(error: unknown): string {
  try {
    const message = error instanceof Error ? error.message : error;
    if (typeof message === 'string' && message !== '') return message;
  } catch {
    /* A getter of the error threw. */
  }
  return 'The tool failed.';
}

function toResult(output: unknown): ToolResult {
  if (typeof output === 'string') return { text: output };
  const { data } = contentSchema.safeParse(output);
  return data ?? { text: JSON.stringify(output) ?? 'The tool succeeded.' };
}
