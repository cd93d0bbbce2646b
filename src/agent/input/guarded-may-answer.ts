import type { SettingFailure } from '../../content/setting-failure.ts';
import { plainCall } from '../../content/tool-call.ts';
import { InputReads, undeclaredText } from '../../policy/input-reads.ts';
import type { ToolDefinitions } from '../calls/tool-definitions.ts';
import type { MayAnswer } from './run-input.ts';

/** The app's `mayAnswer`, which lets nobody answer where it has read a field of the input that the tool doesn't have. */
export function guardedMayAnswer(
  mayAnswer: MayAnswer | undefined,
  definedTools: () => ToolDefinitions | Promise<ToolDefinitions>,
  report: (failure: SettingFailure) => void,
): MayAnswer | undefined {
  if (mayAnswer === undefined) return undefined;
  return async (asked) => {
    const { request } = asked;
    const { toolCall, path } = request.type === 'approval-request' ? request : {};
    /* A sub-agent knows its own tools. */
    if (toolCall === undefined || path !== undefined) return mayAnswer(asked);
    const { toolName, input } = toolCall;
    const reads = new InputReads((await definedTools()).get(toolName)?.inputSchema);
    const answer = await reads.during(input, (copy) => {
      toolCall.input = copy;
      return mayAnswer(asked);
    });
    const problem = undeclaredText(reads, toolName);
    if (problem === undefined) return answer === true;
    const { threadId } = request;
    const call = { ...plainCall(toolCall), input };
    report({ threadId, setting: 'mayAnswer', kind: 'unknown-field', problem, toolCall: call });
    return false;
  };
}
