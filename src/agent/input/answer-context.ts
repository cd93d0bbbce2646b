import type { ToolSet } from 'ai';
import type { AgentRules } from '../calls/decide-calls.ts';
import type { GrantSources } from '../calls/find-grant.ts';
import type { ToolDefinitions } from '../calls/tool-definitions.ts';
import type { MayAnswer } from './run-input.ts';

/** The agent's part of checking answers. */
export interface AnswerContext extends GrantSources, AgentRules {
  mayAnswer: MayAnswer | undefined;
  tools: ToolSet;
  definedTools: () => ToolDefinitions | Promise<ToolDefinitions>;
  generateId: () => string;
}
