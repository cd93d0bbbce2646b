import { type CallToolResult, isCallToolResult } from '@modelcontextprotocol/server';
import { inertText, quoteInertLine } from '../../content/inert-text.ts';
import { isObject } from '../../json/json-value.ts';
import type { ToolCallRecord } from '../../content/tool-call.ts';
import { isEqualJson } from '../../policy/digest.ts';
import type { AgentThread } from '../../thread/agent-thread.ts';

/** Describes the result of a call whose thread is over, for its client. */
export function describeCallEnd(thread: AgentThread): CallToolResult {
  const [call] = thread.calls;
  if (call === undefined)
    return makeError('This call was stopped before it ran. Nothing was done.');
  switch (call.status) {
    case 'succeeded':
      return withEdit(call, readResult(call.outcome.output));
    case 'failed':
      return withEdit(call, describeFailure(call.outcome));
    case 'denied':
      return makeError(describeDenial(thread, call));
    case 'indeterminate':
      return makeError(
        `It is unknown whether this call of ${quoteInertLine(call.toolName)} took effect: it began, and nobody knows how it ended. ` +
          'It was not repeated. A person has to find out and settle it; then call again with exactly the same arguments to get the outcome.',
      );
    case 'proposed':
    case 'waiting':
    case 'approved':
    case 'started':
    case 'deferred':
    case 'forwarded':
      return makeError(`This call has no outcome: it is ${call.status}.`);
  }
}

/** Makes the result for a client whose call waits for a person: to decide, or to answer its server once it has begun. */
export function describePending(
  tool: string,
  { url, isTyped, hasBegun }: { url: string | undefined; isTyped: boolean; hasBegun: boolean },
): CallToolResult {
  const name = quoteInertLine(tool);
  const where = url === undefined ? '' : ` A person can answer at ${url}`;
  const state = hasBegun
    ? `${name} has begun, and its server waits for a person to answer a question.`
    : `a person has not decided yet whether ${name} may run. Nothing has happened yet.`;
  const text = `Pending: ${state} Call ${name} again with exactly the same arguments to wait for the ${hasBegun ? 'answer' : 'decision'} and get the result; nobody is asked twice.${where}`;
  return makePending(text, isTyped);
}

/* For a tool that declares structured content, clients refuse a result without it, unless it is an error. */
function makePending(text: string, isTyped: boolean): CallToolResult {
  return { content: [{ type: 'text', text }], ...(isTyped && { isError: true }) };
}

/** Makes the result for a client whose call was approved, and waits for its server. */
export function describeUnready(
  { tool, upstream }: { tool: string; upstream: string },
  { isTyped }: { isTyped: boolean },
): CallToolResult {
  const name = quoteInertLine(tool);
  const text = `Pending: a person has approved ${name}, but the MCP server ${quoteInertLine(upstream)} is not ready. Nothing has happened yet. Call ${name} again later with exactly the same arguments to run it and get the result; nobody is asked twice.`;
  return makePending(text, isTyped);
}

/** Makes the result for a client of a gate that closes while another one runs its call. */
export function describeRunning(tool: string): CallToolResult {
  const name = quoteInertLine(tool);
  return makeError(
    `${name} is still running. Call ${name} again with exactly the same arguments to get the result; it is not repeated.`,
  );
}

/**
 * Marks a result as an error if it lacks the structured content that its tool declares. Clients would discard it otherwise, and their model
 * would repeat a call that has taken effect.
 */
export function markUnstructured(result: CallToolResult): CallToolResult {
  if (result.isError === true || result.structuredContent !== undefined) return result;
  const text =
    'The call ran. It is marked as an error only because its result has no structured content, which the tool declares. Do not repeat it for that.';
  return { ...result, isError: true, content: [{ type: 'text', text }, ...result.content] };
}

/** Makes the result of a failed call. */
export function makeError(text: string): CallToolResult {
  return { content: [{ type: 'text', text }], isError: true };
}

/** Reads the result as the upstream returned it; anything else as text. */
function readResult(output: unknown): CallToolResult {
  if (isCallToolResult(output)) return output;
  const text = typeof output === 'string' ? output : JSON.stringify(output);
  return { content: [{ type: 'text', text }] };
}

function describeFailure({ error, output }: { error: string; output?: unknown }): CallToolResult {
  if (output === undefined || !isCallToolResult(output)) return makeError(error);
  return { ...output, isError: true };
}

/** Describes the reason for which a call did not run. */
function describeDenial(
  { decisions }: AgentThread,
  { requestId, outcome }: Extract<ToolCallRecord, { status: 'denied' }>,
): string {
  const decision = decisions.find(({ request }) => request.requestId === requestId);
  const because = outcome.reason === undefined ? '' : `: ${inertText(outcome.reason)}`;
  if (decision === undefined) return endSentence(`A rule denied this call${because}`);
  switch (decision.status) {
    case 'rejected':
      return endSentence(`A person rejected this call${because}`);
    case 'expired':
      return 'Nobody decided in time whether this call may run, so it has expired. Nothing was done.';
    case 'approved':
    case 'answered':
    case 'dismissed':
    case 'cancelled':
    case 'invalidated':
      return endSentence(`This call was cancelled${because}`);
  }
}

function endSentence(text: string): string {
  return `${text.replace(/[.\s]+$/, '')}. Nothing was done.`;
}

/** Puts a text about the arguments that a person changed, if any, before the result. */
function withEdit({ edit, input }: ToolCallRecord, result: CallToolResult): CallToolResult {
  if (edit === undefined) return result;
  const text = `A person changed this call before it ran: ${describeChanges(edit.original, input)}. The result is that of the changed call.`;
  return { ...result, content: [{ type: 'text', text }, ...result.content] };
}

function describeChanges(original: unknown, input: unknown): string {
  if (!isObject(original) || !isObject(input)) return `it ran with ${render(input)}`;
  const names = new Set([...Object.keys(original), ...Object.keys(input)]);
  const changes = [...names].flatMap((name) => {
    const [before, after] = [readOwn(original, name), readOwn(input, name)];
    if (isEqualJson(before, after)) return [];
    const label = quoteInertLine(name);
    if (before === undefined) return `${label} was added as ${render(after)}`;
    if (after === undefined) return `${label} was removed`;
    return `${label} was ${render(before)} and became ${render(after)}`;
  });
  return changes.join('; ');
}

function readOwn(object: object, name: string): unknown {
  return Object.entries(object).find(([key]) => key === name)?.[1];
}

function render(value: unknown): string {
  return inertText(JSON.stringify(value) ?? 'nothing');
}
