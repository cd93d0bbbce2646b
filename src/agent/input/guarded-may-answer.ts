import type { SettingFailure } from '../../content/check-settings.ts';
import { InputReads, describeUndeclared } from '../../policy/input-reads.ts';
import { pickToolCall, type RequestPath } from '../../content/tool-call.ts';
import type { ToolsBelow } from '../calls/delegation.ts';
import type { MayAnswer } from './run-input.ts';

/** The app's `mayAnswer`, which lets nobody answer where it has read a field of the input that the tool doesn't have. */
export function guardMayAnswer(
  mayAnswer: MayAnswer | undefined,
  definedTools: () => ToolsBelow | Promise<ToolsBelow>,
  report: (failure: SettingFailure) => void,
): MayAnswer | undefined {
  if (mayAnswer === undefined) return undefined;
  return async (asked) => {
    const { request } = asked;
    const { toolCall, path } = request.type === 'approval-request' ? request : {};
    if (toolCall === undefined) return mayAnswer(asked);
    const { toolName, input } = toolCall;
    const tools = await findToolsAt(path, await definedTools());
    const reads = new InputReads(tools?.get(toolName)?.inputSchema);
    const answer = await reads.during(input, (copy) => {
      toolCall.input = copy;
      return mayAnswer(asked);
    });
    const problem = describeUndeclared(reads, toolName);
    if (problem === undefined) return answer === true;
    const { threadId } = request;
    const call = { ...pickToolCall(toolCall), input };
    report({ threadId, setting: 'mayAnswer', kind: 'unknown-field', problem, toolCall: call });
    return false;
  };
}

/** The tools of the agent that asks: of a sub-agent, if the request has come through delegated calls; `undefined` if they can't be known. */
async function findToolsAt(
  path: RequestPath | undefined,
  own: ToolsBelow,
): Promise<ToolsBelow | undefined> {
  let tools: ToolsBelow | undefined = own;
  for (const { toolName } of path ?? [])
    tools = await tools?.get(toolName)?.delegation?.definedTools?.();
  return tools;
}
