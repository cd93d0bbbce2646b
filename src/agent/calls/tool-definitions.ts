import { asSchema, jsonSchema, type Tool, tool as functionTool, type ToolSet } from 'ai';
import type { UserInputRequest } from '../../content/user-input.ts';
import { HoldpointError } from '../../errors.ts';
import { digestDefinition } from '../../policy/digest.ts';
import { pickInputNames } from '../../json/declared-fields.ts';
import { callAt, listDueCalls, isResumable } from '../../thread/thread-head.ts';
import type { ThreadState } from '../../thread/thread-state.ts';
import { type AnswerReceiver, findAnswerReceiver } from './answer-receiver.ts';
import { callTexts, type DescribeCall } from './call-text.ts';
import { type Delegation, readDelegation } from './delegation.ts';
import { type Asking, readAsking } from './question-call.ts';
import {
  type InputValidation,
  makeInputValidation,
  type ReportUnreadable,
  readSchemaJson,
} from './input-validation.ts';

/** A tool of the agent, prepared once. */
export interface ToolDefinition {
  name: string;
  /** The app's own tool, including `execute`. It never reaches the model step. */
  tool: Tool;
  /** The part that the model gets: description and schemas. */
  modelTool: ToolSet[string];
  /** The JSON Schema of its input. */
  inputSchema: unknown;
  /** The part of it that lists the fields of an input. */
  inputNames: unknown;
  /** Validates its inputs. */
  validation: InputValidation;
  /** Asks its calls' questions, if it is a question tool. */
  asking: Asking | undefined;
  /** Receives its answers, if it asks questions during its calls. */
  answering: AnswerReceiver | undefined;
  /** Makes the text of its requests where the rule has none; `undefined` for the usual text. */
  describeCall: DescribeCall | undefined;
  /** Delegates its calls, for an agent tool. */
  delegation: Delegation | undefined;
  /** The context for `execute` and for rules, validated. */
  context: unknown;
  /** SHA-256 of the definition, to which the approval of a call is bound. */
  digest: string;
}

/** The agent's tools by name. A map, so that a tool may be called `constructor` or `__proto__`. */
export interface ToolDefinitions extends ReadonlyMap<string, ToolDefinition> {
  /** The tools as passed to the model step. */
  readonly forModel: Readonly<ToolSet>;
}

/**
 * Prepares the tools at the first call, and again when they are another object. A failure, for example of a schema that is fetched, is not
 * kept.
 */
export function defineToolsOnce(
  given: ToolSet | (() => ToolSet),
  toolsContext: Readonly<Record<string, unknown>>,
  report: ReportUnreadable,
): () => ToolDefinitions | Promise<ToolDefinitions> {
  let last: { tools: ToolSet; defined: ToolDefinitions | Promise<ToolDefinitions> } | undefined;
  return () => {
    const tools = typeof given === 'function' ? given() : given;
    if (last?.tools === tools) return last.defined;
    const defining = defineTools(tools, toolsContext, report);
    const begun = { tools, defined: defining };
    const replace = (next: typeof last): void => {
      if (last === begun) last = next;
    };
    defining.then(
      (defined) => replace({ tools, defined }),
      () => replace(undefined),
    );
    last = begun;
    return defining;
  };
}

/** Prepares the tools: their JSON Schemas are made once, whereas the AI SDK makes them at every step. */
async function defineTools(
  tools: ToolSet,
  toolsContext: Readonly<Record<string, unknown>>,
  report: ReportUnreadable,
): Promise<ToolDefinitions> {
  const contexts = new Map(Object.entries(toolsContext));
  const definitions = await Promise.all(
    Object.entries(tools).map(([name, tool]) =>
      defineTool(name, tool, { ofTool: contexts.get(name), report }),
    ),
  );
  return Object.assign(new Map(definitions.map((each) => [each.name, each])), {
    forModel: Object.fromEntries(definitions.map(({ name, modelTool }) => [name, modelTool])),
  });
}

async function defineTool(
  name: string,
  tool: Tool,
  { ofTool, report }: { ofTool: unknown; report: ReportUnreadable },
): Promise<ToolDefinition> {
  const context = await validateToolContext(name, tool, ofTool);
  const { description: given } = tool;
  /* A text that changes while a call waits is another tool. A text from a function is made for each request, as expected. */
  const identified = typeof given === 'function' ? undefined : given;
  const description = typeof given === 'function' ? () => given({ context }) : given;
  const { schema: inputSchema, canonical } = await readSchemaJson(tool);
  const validation = makeInputValidation(name, tool, { schemaText: canonical, report });
  const ready = jsonSchema(inputSchema, { validate: validation.call });
  const { version, annotations } = tool.metadata ?? {};
  const identity = { name, description: identified, title: tool.title, version, annotations };
  return {
    name,
    tool,
    modelTool: makeModelTool(tool, description, ready),
    inputSchema,
    inputNames: pickInputNames(inputSchema),
    validation,
    asking: readAsking(tool),
    answering: findAnswerReceiver(tool),
    describeCall: callTexts.get(tool),
    delegation: readDelegation(tool),
    context,
    digest: await digestDefinition(identity, canonical),
  };
}

/**
 * The tool as the model may see it. `execute`, `needsApproval` and the input hooks are left out: the AI SDK would run hooks before a
 * person was asked.
 */
function makeModelTool(
  tool: Tool,
  description: Tool['description'],
  inputSchema: ReturnType<typeof jsonSchema>,
): ToolSet[string] {
  const { title, providerOptions, metadata, deferLoading } = tool;
  const shared = { title, providerOptions, metadata, deferLoading, inputSchema };
  if (tool.type === 'provider') {
    if (tool.isProviderExecuted) return tool;
    const { id, args } = tool;
    return functionTool({ ...shared, type: 'provider', isProviderExecuted: false, id, args });
  }
  const { strict, inputExamples } = tool;
  const described = { ...shared, description, strict, inputExamples };
  return tool.type === 'dynamic'
    ? functionTool({ ...described, type: 'dynamic' })
    : functionTool(described);
}

async function validateToolContext(name: string, tool: Tool, context: unknown): Promise<unknown> {
  if (tool.contextSchema === undefined) return context;
  const result = await asSchema(tool.contextSchema).validate?.(context);
  if (result === undefined) return context;
  if (result.success) return result.value;
  throw new TypeError(
    `toolsContext.${name} is missing or does not match the contextSchema of tool '${name}'.`,
    { cause: result.error },
  );
}

/**
 * Throws `missing-tool` if the thread can only continue with a tool that this agent does not have: an approved call or an answer waits
 * for it. Neither is ended, as another version of the app may have the tool.
 */
export function refuseMissingTools(
  { threadId, head }: Readonly<ThreadState>,
  tools: ToolDefinitions,
  now: number,
): void {
  const call = listDueCalls(head).find(
    ({ toolName, providerApprovalId }) => providerApprovalId === undefined && !tools.has(toolName),
  );
  if (call !== undefined) {
    const what = `Call ${call.toolCallId} was approved and not run`;
    throw makeMissingError(threadId, call.toolName, what);
  }
  for (const { request, beside } of head.unsentAnswers) {
    const { toolName = '' } = callAt(head, beside) ?? {};
    if (!tools.has(toolName)) throw makeMissingToolError(request, toolName);
  }
  const resumed = head.calls.find(
    (each) => isResumable(each, now) && tools.get(each.toolName)?.delegation === undefined,
  );
  if (resumed !== undefined) {
    const what = `Call ${resumed.toolCallId} can't be resumed`;
    throw makeMissingError(threadId, resumed.toolName, what);
  }
}

/** The error for an answer that only the missing tool can read. */
export function makeMissingToolError(
  { threadId, requestId }: UserInputRequest,
  toolName: string,
): HoldpointError {
  const what = `The answer to request ${requestId} can't be sent`;
  return makeMissingError(threadId, toolName, what, requestId);
}

function makeMissingError(
  threadId: string,
  toolName: string,
  what: string,
  requestId?: string,
): HoldpointError {
  return new HoldpointError(
    'missing-tool',
    `${what}: this agent has no tool '${toolName}'. Thread ${threadId} waits; run it with an agent that has the tool, ` +
      'or give up with agent.cancel(thread, reason, { principal }).',
    { requestId },
  );
}
