import type { JSONValue, ToolModelMessage, ToolResultPart } from 'ai';
import { z } from 'zod';
import type { ToolCallOutcome, ToolCallRecord } from '../content/tool-call.ts';

type ToolPart = ToolModelMessage['content'][number];

/** The parts of the tool message for a call that has ended, for the model or its provider. Throws for an open call. */
export function makeToolParts(call: ToolCallRecord): ToolPart[] {
  const { toolCallId, toolName, outcome, providerApprovalId } = call;
  if (outcome === undefined) throw new TypeError(`Call ${toolCallId} has not ended.`);
  if (providerApprovalId !== undefined) return answerParts(call, outcome, providerApprovalId);
  const output = withEdit(call, toModelResult(outcome));
  return [{ type: 'tool-result', toolCallId, toolName, output }];
}

/** The answer to a provider's request for approval: approved if the call was forwarded, otherwise not. */
function answerParts(
  { toolCallId, toolName }: ToolCallRecord,
  outcome: ToolCallOutcome,
  approvalId: string,
): ToolPart[] {
  const answer = { type: 'tool-approval-response', approvalId, providerExecuted: true } as const;
  if (outcome.status === 'forwarded') return [{ ...answer, approved: true }];
  const reason = pickReason(outcome);
  /* As in the AI SDK, a denied call has a result besides the answer. This option makes providers leave it out, as they have the answer. */
  const providerOptions = { openai: { approvalId } };
  const output = { type: 'execution-denied', ...reason, providerOptions } as const;
  return [
    { ...answer, approved: false, ...reason },
    { type: 'tool-result', toolCallId, toolName, output },
  ];
}

function pickReason(outcome: Exclude<ToolCallOutcome, { status: 'forwarded' }>): {
  reason?: string;
} {
  switch (outcome.status) {
    case 'failed':
      return { reason: outcome.error };
    case 'denied':
      return outcome.reason === undefined ? {} : { reason: outcome.reason };
    case 'succeeded':
      return {};
  }
}

function toModelResult(outcome: ToolCallOutcome): ToolResultPart['output'] {
  switch (outcome.status) {
    case 'succeeded':
      return outcome.modelOutput ?? makeDefaultOutput(outcome.output);
    case 'failed':
      return outcome.modelOutput ?? { type: 'error-text', value: outcome.error };
    case 'denied':
      return {
        type: 'execution-denied',
        ...(outcome.reason === undefined ? {} : { reason: outcome.reason }),
      };
    case 'forwarded':
      throw new TypeError('Only a call that the provider runs can be forwarded.');
  }
}

/**
 * The output of a call that ran with an edited input, with a note for the model: the message history has the input that it asked for. The
 * note is part of the output and keeps its type, because providers differ in what else they accept.
 */
function withEdit(
  { edit, input, attempts, outcome }: ToolCallRecord,
  output: ToolResultPart['output'],
): ToolResultPart['output'] {
  if (edit === undefined) return output;
  /* A call that runs elsewhere has no attempts here. If it failed, it may not have begun there. */
  const hasRun = attempts > 0 || outcome?.status === 'succeeded';
  const note = `A person edited the input of this call before approving it. ${hasRun ? 'It ran with' : 'The edited input'}:`;
  const text = `${note} ${JSON.stringify(input)}`;
  switch (output.type) {
    case 'text':
    case 'error-text':
      return { ...output, value: `${text}\n\n${output.value}` };
    case 'json':
    case 'error-json':
      return {
        ...output,
        value: { note, editedInput: jsonSchema.parse(input), output: output.value },
      };
    case 'content':
      return { ...output, value: [{ type: 'text', text }, ...output.value] };
    case 'execution-denied':
      return output;
  }
}

/* A recorded input, which is JSON. */
const jsonSchema = z.custom<JSONValue>((value) => value !== undefined);

/** The AI SDK's conversion of the output of a tool that has no `toModelOutput`. */
function makeDefaultOutput(output: JSONValue): ToolResultPart['output'] {
  return typeof output === 'string'
    ? { type: 'text', value: output }
    : { type: 'json', value: output };
}
