import type { ModelMessage } from 'ai';
import { deepFreeze } from '../../thread/deep-freeze.ts';
import type { ThreadState } from '../../thread/thread-state.ts';
import type { DecisionInput } from '../calls/decide-calls.ts';
import type { ToolDefinitions } from '../calls/tool-definitions.ts';
import type { AgentContext } from './agent-context.ts';
import type { RunOptions } from './run-options.ts';

/** What decides on the calls of a step, whose model request had the first `messageCount` messages. */
export function decisionInput(
  context: AgentContext,
  state: ThreadState,
  run: { tools: ToolDefinitions; options: RunOptions<unknown> },
  messageCount: number,
): DecisionInput {
  const { toolApproval, tools, toolsContext, now, generateId } = context;
  const messages = firstMessages(state, messageCount);
  const runtimeContext = run.options.runtimeContext ?? {};
  return {
    threadId: state.threadId,
    requestedBy: state.head.requestedBy,
    tools: run.tools,
    rules: { toolApproval, tools, toolsContext, runtimeContext, messages },
    now,
    generateId,
  };
}

/** The first messages of a thread; copied and frozen only for a rule or a tool that reads them. */
export function firstMessages(state: ThreadState, count: number): () => readonly ModelMessage[] {
  let messages: readonly ModelMessage[] | undefined;
  return () => (messages ??= deepFreeze(state.messages.slice(0, count)));
}
