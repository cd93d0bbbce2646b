import type { ToolSet } from 'ai';
import type { ApprovalResponseContent } from '../../content/approval.ts';
import type { OpenRequest } from '../../thread/thread-head.ts';
import type { AgentRules } from '../calls/decide-calls.ts';
import type { GrantSources } from '../calls/find-grant.ts';
import type { ToolDefinitions } from '../calls/tool-definitions.ts';
import type { ParsedInput } from './parse-input.ts';
import type { AnswerOptions, MayAnswer } from './run-input.ts';

/** The agent's part of checking answers. */
export interface AnswerContext extends GrantSources, AgentRules {
  mayAnswer: MayAnswer | undefined;
  tools: ToolSet;
  definedTools: () => ToolDefinitions | Promise<ToolDefinitions>;
  generateId: () => string;
}

/** An answer that is to be weighed. */
export interface Answering {
  open: OpenRequest;
  response: ApprovalResponseContent;
  by: AnswerOptions;
  /** The person who had asked the sender to answer instead, as this agent says. */
  onBehalfOf: string | undefined;
  /** What the agents of the threads above say of the sender, of those who answered before, and of the time that is left. */
  above: Pick<ParsedInput, 'onBehalfOf' | 'revoked' | 'until'>;
  /** Says who may answer the request with an edit too; `undefined` if everybody may, or the agent of the parent thread has asked. */
  mayAnswer: MayAnswer | undefined;
}
