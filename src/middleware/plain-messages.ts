import type { AssistantModelMessage, ModelMessage, ToolCallPart, ToolResultPart } from 'ai';
import { isForHoldPoint } from '../thread/app-messages.ts';
import { type AssistantPart, listAssistantParts } from '../thread/proposed-calls.ts';
import { isHeldCall } from './recorded-parts.ts';

/**
 * Converts the messages of a loop with `holdPoint` for a model without it, such as one that writes a title. The AI SDK keeps the calls of
 * that loop as calls that the provider ran, which no provider knows. Here each is a call with its result, once, and the approvals are left
 * out. A call without a result gets one that says so. Calls that the provider ran stay as they are. A call that was edited, or of which its
 * schema made another value, has the input that the last reply shows.
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
  const held = findHeldCalls(messages);
  const shown = new Set<HeldCall>();
  return messages.map((message) => {
    if (isForHoldPoint(message)) return [];
    if (message.role === 'tool') {
      const content = message.content.filter(
        (part) => part.type === 'tool-result' && !held.has(part),
      );
      return content.length === 0 ? [] : [{ ...message, content }];
    }
    if (message.role !== 'assistant' || typeof message.content === 'string') return [message];
    const parts = message.content.filter((part) => part.type !== 'tool-approval-request');
    return [...splitSteps(parts, held)].flatMap((step) => writeStep(message, step, held, shown));
  });
}

/** A call behind `holdPoint`, as the last reply shows it, and its result. */
interface HeldCall {
  call: ToolCallPart;
  result: ToolResultPart | undefined;
}

/** The calls behind `holdPoint`, by the parts that show them or their results. */
type HeldCalls = ReadonlyMap<object, HeldCall>;

/**
 * Finds the calls that ran behind `holdPoint`. One call may be in several replies, and its result is in the last: a call with its id after
 * that, or without the mark of such calls, is another one.
 */
function findHeldCalls(messages: readonly ModelMessage[]): HeldCalls {
  const held = new Map<object, HeldCall>();
  const latest = new Map<string, HeldCall | undefined>();
  for (const part of messages.flatMap(listCallParts)) {
    const { toolCallId } = part;
    const known = latest.get(toolCallId);
    if (part.type === 'tool-call') {
      const call = isHeldCall(part) ? showAgain(known, part) : undefined;
      latest.set(toolCallId, call);
      if (call !== undefined) held.set(part, call);
    } else if (known !== undefined) {
      known.result = makeOwnDenial(part);
      held.set(part, known);
    }
  }
  return held;
}

/** The held call that a part shows: a known one without a result, or else a new one. */
function showAgain(known: HeldCall | undefined, call: ToolCallPart): HeldCall {
  if (known === undefined || known.result !== undefined) return { call, result: undefined };
  known.call = call;
  return known;
}

function listCallParts(message: ModelMessage): (ToolCallPart | ToolResultPart)[] {
  const parts = message.role === 'tool' ? message.content : listAssistantParts(message);
  return parts.filter((part) => part.type === 'tool-call' || part.type === 'tool-result');
}

/* The AI SDK marks a denial as one that the provider already knows, and leaves it out of a request. */
function makeOwnDenial(part: ToolResultPart): ToolResultPart {
  if (part.output.type !== 'execution-denied') return part;
  const { providerOptions: _known, ...output } = part.output;
  return { ...part, output };
}

function makeMissingResult({ toolCallId, toolName }: ToolCallPart): ToolResultPart {
  const output = { type: 'error-text', value: 'There is no result of this call.' } as const;
  return { type: 'tool-result', toolCallId, toolName, output };
}

/** Splits a reply into steps: the parts after a result of `holdPoint` are the model's next response. */
function* splitSteps(parts: readonly AssistantPart[], held: HeldCalls): Generator<AssistantPart[]> {
  let step: AssistantPart[] = [];
  let isOver = false;
  for (const part of parts) {
    const isResult = part.type === 'tool-result' && held.has(part);
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
  held: HeldCalls,
  shown: Set<HeldCall>,
): ModelMessage[] {
  const content: AssistantPart[] = [];
  const ended: ToolResultPart[] = [];
  for (const part of step) {
    const found = held.get(part);
    if (found === undefined) {
      content.push(part);
    } else if (!shown.has(found)) {
      shown.add(found);
      const { providerExecuted: _ran, ...call } = found.call;
      content.push(call);
      ended.push(found.result ?? makeMissingResult(call));
    }
  }
  return [
    ...(content.length === 0 ? [] : [{ ...message, content }]),
    ...(ended.length === 0 ? [] : [{ role: 'tool' as const, content: ended }]),
  ];
}
