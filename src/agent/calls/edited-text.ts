import type { CallPlace, ToolCall } from '../../content/tool-call.ts';
import type { ThreadState } from '../../thread/thread-state.ts';
import { noContext } from '../../policy/run-context.ts';
import { applyRules } from './apply-rules.ts';
import { type AgentRules, makeRuleInput } from './decide-calls.ts';
import { renderAskedText } from './make-request.ts';
import { makeOwnRunner, type ToolDefinition } from './tool-definitions.ts';

/**
 * The question about a call of the open step with an edited input, as the rule asks it for that input; the default text if the rule would
 * not ask. The rule has no `runtimeContext`, as in a worker: that of the run which asked is over.
 */
export async function renderEditedText(
  rules: AgentRules,
  state: Readonly<ThreadState>,
  { definition, call }: { definition: ToolDefinition; call: ToolCall & CallPlace },
): Promise<string> {
  const messageCount = state.messages.length - 1;
  const seen = makeRuleInput(rules, state, { context: noContext, messageCount });
  const decision = await applyRules(seen, definition, call);
  const reporting = { threadId: state.threadId, report: rules.report };
  const about = { toolCall: call, runner: makeOwnRunner(definition) };
  return renderAskedText(reporting, decision.type === 'ask' ? decision : {}, about);
}
