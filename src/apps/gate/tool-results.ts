import type { CallToolResult } from '@modelcontextprotocol/client';
import { isObject } from '../../json/json-value.ts';
import { isDeeper } from './tool-definitions.ts';

/* The limits of a result that is passed on, in characters of JSON and in levels: no program can write all that another one reads. */
const longestResult = 1_048_576;
const deepestResult = 400;

/** Leaves out a result that is too long or too deep, and warns in one with large numbers that they may have been rounded. */
export function boundResult(result: CallToolResult): CallToolResult {
  if (isDeeper(result, deepestResult))
    return leaveOut(result, `JSON that is nested more than ${deepestResult} deep`);
  const { length } = JSON.stringify(result);
  if (length > longestResult)
    return leaveOut(
      result,
      `${length} characters of JSON, and at most ${longestResult} are passed on`,
    );
  if (!hasLargeNumber(result.structuredContent)) return result;
  const text =
    'Numbers beyond ±(2^53 - 1) in the structured content of this result may have been rounded: do not rely on them, such as on an id.';
  return { ...result, content: [{ type: 'text', text }, ...result.content] };
}

function leaveOut({ isError }: CallToolResult, what: string): CallToolResult {
  const text = `The tool has returned ${what}, so the result was left out.`;
  return { content: [{ type: 'text', text }], ...(isError === true && { isError }) };
}

function hasLargeNumber(value: unknown): boolean {
  if (typeof value === 'number') return Math.abs(value) > Number.MAX_SAFE_INTEGER;
  return isObject(value) && Object.values(value).some(hasLargeNumber);
}
