import { type UIMessage, isToolUIPart } from 'ai';

/** The results that the page has brought into a message for calls that are its own to run, and that the thread has not said it knows. */
export function clientOutputs(message: UIMessage | undefined): unknown[] {
  return (message?.parts ?? []).flatMap((part): unknown[] => {
    if (!isToolUIPart(part) || part.toolMetadata?.['clientTool'] !== true) return [];
    const { toolCallId } = part;
    if (part.state === 'output-error') return [{ toolCallId, errorText: part.errorText }];
    const isBrought = part.state === 'output-available' && part.preliminary !== true;
    return isBrought ? [{ toolCallId, output: part.output }] : [];
  });
}
