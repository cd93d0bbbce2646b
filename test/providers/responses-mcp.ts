import { isDeepStrictEqual } from 'node:util';
import type { ScriptedCall } from '../support/script.ts';
import type { GivenItem, ResponsesItems } from './responses-items.ts';
import type { InputItem } from './responses-request.ts';

type McpItem = Pick<GivenItem, 'kind' | 'id' | 'item'>;

/**
 * What the server puts out for a call that it runs at an MCP server: its request for approval, or what came of the call, with
 * the request before it.
 */
export function mcpItem(
  { name, input }: ScriptedCall,
  atProvider: NonNullable<ScriptedCall['atProvider']>,
  { id, asked }: { id: string; asked: readonly GivenItem[] },
): McpItem {
  const called = {
    server_label: 'tracker',
    name: name.replace(/^mcp\./, ''),
    arguments: typeof input === 'string' ? input : JSON.stringify(input),
  };
  if ('approvalId' in atProvider) {
    const { approvalId } = atProvider;
    const item = { type: 'mcp_approval_request', id: approvalId, ...called };
    return { kind: 'mcp_approval_request', id: approvalId, item };
  }
  const request = asked.find(({ item }) => isDeepStrictEqual(item, { ...item, ...called }));
  const output = JSON.stringify(atProvider.output);
  const done = { status: 'completed', output, approval_request_id: request?.id ?? null };
  return { kind: 'mcp_call', id, item: { type: 'mcp_call', id, ...called, ...done } };
}

/**
 * What a request breaks about approvals: an answer comes once, after the request that it is to, which the server knows from the
 * client's reference; and no request of the conversation stays unanswered.
 */
export function* approvalViolations(
  input: readonly InputItem[],
  items: ResponsesItems,
): Generator<string> {
  const asked = new Set<string>();
  const answered = new Set<string>();
  for (const [index, item] of input.entries()) {
    if (item.type === 'item_reference') asked.add(item.id);
    if (item.type !== 'mcp_approval_response') continue;
    const { approval_request_id: id } = item;
    const isAsked = asked.has(id) && items.stored(id)?.kind === 'mcp_approval_request';
    if (!isAsked) yield `input.${index}: there is no approval request ${id} before its answer`;
    if (answered.has(id)) yield `input.${index}: approval request ${id} has two answers`;
    answered.add(id);
  }
  const open = items.approvalRequests.filter(({ id }) => !answered.has(id));
  yield* open.map(({ id }) => `approval request ${id} has no answer`);
}
