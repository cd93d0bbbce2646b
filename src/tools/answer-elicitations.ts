import type { Tool, ToolSet } from 'ai';
import { receiveAnswers, type ToolRunOptions } from '../agent.ts';
import { mcpMetadataSchema } from '../json/mcp-tool.ts';
import { SerialWork } from '../content/waiting.ts';
import { type ElicitingAgent, Elicitations } from './ask-elicitations.ts';
import { ElicitationRefused, type ElicitationResult } from './elicitation.ts';

/** The part of a client of `@ai-sdk/mcp` that `answerElicitations` needs. */
interface ElicitingClient<SCHEMA> {
  /** Registers the handler of elicitations. */
  onElicitationRequest: (
    schema: SCHEMA,
    handler: (request: {
      params: unknown;
    }) => Promise<Pick<ElicitationResult, 'action' | 'content'>>,
  ) => void;
}

/** Options of `answerElicitations`. */
interface ElicitationOptions<SCHEMA> {
  /** The `ElicitationRequestSchema` of `@ai-sdk/mcp`, by which the client knows the request. */
  schema: SCHEMA;
  /** The client's tools. */
  tools: ToolSet;
  /** The agent that has these tools. A function, because the agent is created with the tools that this returns. */
  agent: () => ElicitingAgent;
}

/**
 * Passes the questions that an MCP server asks during its calls (elicitation) to people, and returns the tools for the agent. The question
 * is in the thread, beside the running call, and is answered like any other; the server then gets the answer, checked and with the types
 * that it asked for.
 *
 * The protocol does not say which call asks, so one call of the client runs at a time. If the process dies while a question is open, the
 * call's outcome is unknown, and its question is closed. A form with nested properties, unknown formats or more than 20 properties is
 * refused, and the server is told why.
 *
 * @example
 * const client = await createMCPClient({ transport, capabilities: { elicitation: {} } });
 * const tools = answerElicitations(client, {
 *   schema: ElicitationRequestSchema,
 *   tools: await client.tools(),
 *   agent: () => agent,
 * });
 * const agent = createAgent({ model, tools });
 */
export function answerElicitations<SCHEMA>(
  client: ElicitingClient<SCHEMA>,
  { schema, tools, agent }: ElicitationOptions<SCHEMA>,
): ToolSet {
  const elicitations = new Elicitations(agent);
  const turns = new SerialWork();
  let running:
    | { call: ToolRunOptions; server: string | undefined; signal: AbortSignal }
    | undefined;
  client.onElicitationRequest(schema, async ({ params }) => {
    if (running === undefined) throw new ElicitationRefused('No call is running that could ask.');
    const { call, server, signal } = running;
    const { threadId, toolCallId } = call;
    if (threadId === undefined) {
      throw new ElicitationRefused('The call was not made by an agent of holdpoint.');
    }
    return elicitations.ask({ call: { threadId, toolCallId }, params, server, signal });
  });
  const wrap = (tool: Tool): Tool => {
    const { execute } = tool;
    if (execute === undefined) return tool;
    const server = mcpMetadataSchema.safeParse(tool.metadata).data?.clientName;
    const executeInTurn = async (input: unknown, call: ToolRunOptions): Promise<unknown> =>
      turns.run(async () => {
        call.abortSignal?.throwIfAborted();
        const ended = new AbortController();
        const signals = [ended.signal, call.abortSignal].filter((each) => each !== undefined);
        running = { call, server, signal: AbortSignal.any(signals) };
        try {
          const output: unknown = await execute(input, call);
          return output;
        } finally {
          running = undefined;
          ended.abort(new Error('The call has ended.'));
        }
      });
    return receiveAnswers({ ...tool, execute: executeInTurn }, elicitations.receiver);
  };
  return Object.fromEntries(Object.entries(tools).map(([name, tool]) => [name, wrap(tool)]));
}
