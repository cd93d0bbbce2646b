import type { ToolCall } from '../../content/tool-call.ts';
import type { Asked } from '../../policy/approval-rule.ts';
import { type RequestMaking, whyNobodyAnswers } from './make-request.ts';

/** Reports a call whose request nobody could ever answer, and says why it fails; `undefined` if somebody may be able to. */
export function refuseUnanswerable(
  making: RequestMaking,
  asked: Asked,
  { setting, toolCall }: { setting: string; toolCall: ToolCall | undefined },
): string | undefined {
  const why = whyNobodyAnswers(making, asked);
  if (why === undefined) return undefined;
  const { threadId, report } = making;
  const problem = `Nobody could answer the approval request: ${why}.`;
  report({ threadId, setting, kind: 'unanswerable', problem, toolCall });
  return problem;
}
