import { isDeepStrictEqual } from 'node:util';
import type { GivenItem, ItemKind, ResponsesItems } from './responses-items.ts';
import { approvalViolations } from './responses-mcp.ts';
import type { InputItem } from './responses-request.ts';

/** What the items of a request break of the Responses API's rules. */
export function* itemViolations(
  input: readonly InputItem[],
  items: ResponsesItems,
): Generator<string> {
  const unknown = input.filter(
    (item) => item.type === 'item_reference' && items.stored(item.id) === undefined,
  );
  if (unknown.length > 0) {
    yield* unknown.map((item) => `item_reference ${'id' in item ? item.id : ''} was never stored`);
    return;
  }
  yield* repeatedIds(input);
  yield* unpairedCalls(input, items);
  yield* approvalViolations(input, items);
  yield* reasoningViolations(input, items);
}

function* repeatedIds(input: readonly InputItem[]): Generator<string> {
  const seen = new Set<string>();
  for (const [index, item] of input.entries()) {
    if (!('id' in item) || item.id === undefined) continue;
    if (seen.has(item.id)) yield `input.${index}: item ${item.id} is there twice`;
    seen.add(item.id);
  }
}

/** Each call has exactly one output, which comes after it. */
function* unpairedCalls(input: readonly InputItem[], items: ResponsesItems): Generator<string> {
  const open = new Set<string>();
  const answered = new Set<string>();
  for (const [index, item] of input.entries()) {
    const called = item.type === 'function_call' ? item.call_id : referredCall(item, items);
    if (called !== undefined) {
      const used = open.has(called) || answered.has(called);
      if (used) yield `input.${index}: call_id ${called} was used before`;
      open.add(called);
    }
    if (item.type !== 'function_call_output') continue;
    const { call_id: id } = item;
    if (open.delete(id)) answered.add(id);
    else if (answered.has(id)) yield `input.${index}: call ${id} has two outputs`;
    else yield `input.${index}: there is no call ${id} before its output`;
  }
  yield* [...open].map((id) => `call ${id} has no output`);
}

function referredCall(item: InputItem, items: ResponsesItems): string | undefined {
  return item.type === 'item_reference' ? items.stored(item.id)?.call?.id : undefined;
}

/** Reasoning is what was given, is followed by what followed it, and is there wherever its turn is. */
function* reasoningViolations(
  input: readonly InputItem[],
  items: ResponsesItems,
): Generator<string> {
  let turn = new Set<string>();
  for (const [index, item] of input.entries()) {
    const kind = kindOf(item, items);
    if (kind === 'message' || kind === 'function_call_output') turn = new Set();
    const required = items.reasoningBefore(item);
    if (required.length > 0 && !required.some((id) => turn.has(id))) {
      yield `input.${index}: a ${kind} came back without its reasoning ${required.join(' or ')}`;
    }
    if (kind !== 'reasoning' || !('id' in item) || item.id === undefined) continue;
    turn.add(item.id);
    const given = items.given(item.id);
    const next = input[index + 1];
    if (given === undefined || !isAsGiven(item, given)) {
      yield `input.${index}: reasoning ${item.id} came back changed`;
    } else if (given.next !== (next && kindOf(next, items))) {
      yield `input.${index}: reasoning ${item.id} came back without the item that followed it`;
    }
  }
}

function isAsGiven(item: InputItem, given: GivenItem): boolean {
  return item.type === 'item_reference' || isDeepStrictEqual({ ...item }, given.item);
}

function kindOf(item: InputItem, items: ResponsesItems): ItemKind {
  if (item.type === 'item_reference') return items.stored(item.id)?.kind ?? 'message';
  if (item.type === 'message') return item.role === 'assistant' ? 'answer' : 'message';
  return item.type;
}
