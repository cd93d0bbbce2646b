import type { ApprovalRequest } from '../../content/approval.ts';
import type { CallPlace, ToolCall } from '../../content/tool-call.ts';
import { providerApprovalDigest } from '../../policy/digest.ts';
import { type Asked, makeRequest, type RequestMaking } from './make-request.ts';
import type { ToolDefinition } from './tool-definitions.ts';

/** What will run a call: what an approval of it is bound to, beside the call itself. */
export interface Runner {
  /** What is asked where nobody says otherwise. */
  text: string;
  digest: string;
}

/** A tool of the agent, as it is defined. */
export function ownRunner({ name, tool, digest }: ToolDefinition): Runner {
  return { text: `The agent wants to call ${tool.title ?? name}.`, digest };
}

/** The provider, which asks by this id. */
export async function providerRunner(toolName: string, approvalId: string): Promise<Runner> {
  return {
    text: `The agent wants to call ${toolName}, which the provider runs.`,
    digest: await providerApprovalDigest(approvalId),
  };
}

/** The request for the approval of a call. */
export async function askAbout(
  input: RequestMaking,
  asked: Partial<Asked>,
  { toolCall, place, runner }: { toolCall: ToolCall; place: CallPlace; runner: Runner },
): Promise<ApprovalRequest> {
  const { text, digest } = runner;
  return makeRequest(input, { text, ...asked }, { toolCall, place, runnerDigest: digest });
}
