import type { CallPlace, ToolCall } from '../../content/tool-call.ts';
import type { ThreadState } from '../../thread/thread-state.ts';
import { noContext } from '../../policy/run-context.ts';
import { applyRules } from './apply-rules.ts';
import { type AgentRules, ruleInput } from './decide-calls.ts';
import { askedText } from './make-request.ts';
import { ownRunner, type ToolDefinition } from './tool-definitions.ts';

/**
 * The question about a call of the open step with an edited input, as the rule asks it for that input; the default text if the rule would
 * not ask. The rule has no `runtimeContext`, as in a worker: that of the run which asked is over.
 */
export async function editedText(
  rules: AgentRules,
  state: Readonly<ThreadState>,
  { definition, call }: { definition: ToolDefinition; call: ToolCall & CallPlace },
): Promise<string> {
  const messageCount = state.messages.length - 1;
  const seen = ruleInput(rules, state, { context: noContext, messageCount });
  const decision = await applyRules(seen, definition, call);
  const reporting = { threadId: state.threadId, report: rules.report };
  const about = { toolCall: call, runner: ownRunner(definition) };
  return askedText(reporting, decision.type === 'ask' ? decision : {}, about);
}
