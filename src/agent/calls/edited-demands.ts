import { withoutEdit } from '../../content/approval.ts';
import type { Asked } from '../../policy/approval-rule.ts';
import { equalJson } from '../../policy/digest.ts';
import type { Decision } from '../../policy/tool-approval.ts';
import { applyRules, type RuleInput } from './apply-rules.ts';
import type { ApprovedCall } from './check-approved.ts';
import type { ToolDefinition } from './tool-definitions.ts';

/**
 * What must be asked about a call whose approval edited the input, because the rule demands something else for it than for the input that
 * was asked about; `undefined` if that approval is enough.
 */
export async function demandsOfEdit(
  rules: RuleInput,
  definition: ToolDefinition,
  { call, request, decision }: ApprovedCall & { decision: Decision },
): Promise<Asked | undefined> {
  if (decision.type !== 'ask') return undefined;
  const unedited = { ...call, input: withoutEdit(request).toolCall?.input };
  const before = await applyRules(rules, definition, unedited);
  if (before.type === 'ask' && equalJson(demandsOf(before), demandsOf(decision))) return undefined;
  const { type: _type, ...asked } = decision;
  return { ...asked, reason: asked.reason ?? 'The input was edited.' };
}

function demandsOf({ terms = {} }: Asked): object {
  const { approvers, notRequester, quorum, requireReason, risk } = terms;
  return { approvers, notRequester, quorum, requireReason, risk };
}
