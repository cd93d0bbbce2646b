import type { AssistantModelMessage, ModelMessage, ToolCallPart, ToolResultPart } from 'ai';
import { isForHoldPoint } from '../thread/app-messages.ts';
import { type AssistantPart, listAssistantParts } from '../thread/proposed-calls.ts';
import { isHeldCall } from './recorded-parts.ts';

/**
 * Converts the messages of a loop with `holdPoint` for a model without it, such as one that writes a title. The AI SDK keeps the calls of
 * that loop as calls that the provider ran, which no provider knows. Here each is a call with its result, once, and the approvals are left
 * out. A call without a result gets one that says so. Calls that the provider ran stay as they are.
 *
 * @example
 * const title: ModelMessage = { role: 'user', content: 'Write a title for this conversation.' };
 * const { text } = await generateText({ model, messages: [...plainMessages(messages), title] });
 */
export function plainMessages(messages: readonly ModelMessage[]): ModelMessage[] {
  return splitHeldMessages(messages).flat();
}

/** Splits each message for `plainMessages`. */
export function splitHeldMessages(messages: readonly ModelMessage[]): ModelMessage[][] {
  const results = collectResults(messages);
  const shown = new Set<string>();
  return messages.map((message) => {
    if (isForHoldPoint(message)) return [];
    if (message.role === 'tool') {
      const content = message.content.filter(
        (part) => part.type === 'tool-result' && !results.has(part.toolCallId),
      );
      return content.length === 0 ? [] : [{ ...message, content }];
    }
    if (message.role !== 'assistant' || typeof message.content === 'string') return [message];
    const parts = message.content.filter((part) => part.type !== 'tool-approval-request');
    return [...splitSteps(parts, results)].flatMap((step) =>
      writeStep(message, step, { results, shown }),
    );
  });
}

type Results = ReadonlyMap<string, ToolResultPart>;

/** The results of all calls that ran behind `holdPoint`, by call id. The same call may be in several replies. */
function collectResults(messages: readonly ModelMessage[]): Results {
  const results = new Map<string, ToolResultPart>();
  for (const part of messages.flatMap((message) => [...listAssistantParts(message)])) {
    if (part.type === 'tool-call' && isHeldCall(part))
      results.set(part.toolCallId, makeResult(part));
  }
  for (const part of messages.flatMap(listResults)) {
    if (results.has(part.toolCallId)) results.set(part.toolCallId, makeOwnDenial(part));
  }
  return results;
}

function listResults(message: ModelMessage): ToolResultPart[] {
  const parts = message.role === 'tool' ? message.content : listAssistantParts(message);
  return parts.filter((part) => part.type === 'tool-result');
}

/* The AI SDK marks a denial as one that the provider already knows, and leaves it out of a request. */
function makeOwnDenial(part: ToolResultPart): ToolResultPart {
  if (part.output.type !== 'execution-denied') return part;
  const { providerOptions: _known, ...output } = part.output;
  return { ...part, output };
}

function makeResult({ toolCallId, toolName }: ToolCallPart): ToolResultPart {
  const output = { type: 'error-text', value: 'There is no result of this call.' } as const;
  return { type: 'tool-result', toolCallId, toolName, output };
}

/** Splits a reply into steps: the parts after a result of `holdPoint` are the model's next response. */
function* splitSteps(
  parts: readonly AssistantPart[],
  results: Results,
): Generator<AssistantPart[]> {
  let step: AssistantPart[] = [];
  let isOver = false;
  for (const part of parts) {
    const isResult = part.type === 'tool-result' && results.has(part.toolCallId);
    if (isOver && !isResult) {
      yield step;
      step = [];
    }
    isOver = isResult;
    if (!isResult) step.push(part);
  }
  yield step;
}

/** One response of the model, and the results of its calls. */
function writeStep(
  message: AssistantModelMessage,
  step: readonly AssistantPart[],
  { results, shown }: { results: Results; shown: Set<string> },
): ModelMessage[] {
  const content: AssistantPart[] = [];
  const ended: ToolResultPart[] = [];
  for (const part of step) {
    const result = part.type === 'tool-call' ? results.get(part.toolCallId) : undefined;
    if (part.type !== 'tool-call' || result === undefined) {
      content.push(part);
    } else if (!shown.has(part.toolCallId)) {
      shown.add(part.toolCallId);
      const { providerExecuted: _ran, ...call } = part;
      content.push(call);
      ended.push(result);
    }
  }
  return [
    ...(content.length === 0 ? [] : [{ ...message, content }]),
    ...(ended.length === 0 ? [] : [{ role: 'tool' as const, content: ended }]),
  ];
}
