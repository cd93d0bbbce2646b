import type { ToolSet } from 'ai';
import type { ErrorTextOptions } from '../../../http/tool-error-text.ts';

/** Options for what a page shows of a thread. Those that the AI SDK has too mean the same here. */
export interface ThreadViewOptions extends ErrorTextOptions {
  /** The agent's tools, which say which calls are dynamic and give them their titles. */
  tools?: ToolSet;
  /** Default `true`. */
  sendReasoning?: boolean;
  /** The sources that the model cited, below the step that cites them. Default `true`. */
  sendSources?: boolean;
  /** The tools whose calls the page itself runs: those without `execute`. Default none. */
  clientTools?: readonly string[];
}

/** The fields that a tool part gets from its tool. */
export interface ToolPartFields {
  dynamic?: true;
  title?: string;
  toolMetadata?: { clientTool: true };
}

/** The fields that the parts of a tool's calls get from the tool. */
export function toolPartFields(
  { tools, clientTools = [] }: ThreadViewOptions,
  toolName: string,
): ToolPartFields {
  const tool = tools !== undefined && Object.hasOwn(tools, toolName) ? tools[toolName] : undefined;
  const isDynamic = tools !== undefined && (tool === undefined || tool.type === 'dynamic');
  return {
    ...(isDynamic ? { dynamic: true } : {}),
    ...(tool?.title === undefined ? {} : { title: tool.title }),
    ...(clientTools.includes(toolName) ? { toolMetadata: { clientTool: true } } : {}),
  };
}
