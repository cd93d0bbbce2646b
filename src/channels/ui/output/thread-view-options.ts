import type { ToolSet } from 'ai';
import { toldOf } from '../../../http/error-response.ts';

/** How a thread is told to a page; what has a name in the AI SDK has its meaning here. */
export interface ThreadViewOptions {
  /** The agent's tools: they tell which calls are dynamic, and give them their titles. */
  tools?: ToolSet;
  /** Default `true`. */
  sendReasoning?: boolean;
  /** What the model cited, below the step that cites it. Default `true`. */
  sendSources?: boolean;
  /** The tools whose calls the page itself runs: those without `execute`. Default none. */
  clientTools?: readonly string[];
  /**
   * The text that the page shows for an error, a tool's included; it is called again for each load of a page. Default: `An error
   * occurred.`
   */
  onError?: (error: unknown) => string;
  /**
   * Whether a failed call shows what `onError` makes of its error, which may hold secrets, instead of the text that the model got.
   * Default `true`.
   */
  redactToolErrors?: boolean;
}

/** What a tool part shows of its tool. */
export interface ToolPartFields {
  dynamic?: true;
  title?: string;
  toolMetadata?: { clientTool: true };
}

/** The text that a page shows for a call that failed with `error`: the same live and after a reload. */
export function toolErrorText(
  { redactToolErrors = true, onError }: ThreadViewOptions,
  error: string,
): string {
  return redactToolErrors ? toldOf(new Error(error), onError) : error;
}

/** How a tool's calls look. */
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
