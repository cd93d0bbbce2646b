import { parseJson } from '../../json/json-value.ts';
import { whyNotStrictJson } from '../../json/strict-json.ts';
import { UsageError } from './run-command.ts';

/** The value of a JSON option. Throws a `UsageError` for a text that readers may understand differently, such as one with a key twice. */
export function parseJsonOption(text: string): unknown {
  const value = parseJson(text);
  if (value === undefined) throw new UsageError(`Not JSON: ${text}`);
  const repeated = findRepeatedKey(text);
  const why =
    repeated === undefined
      ? whyNotStrictJson(value)
      : `an object has the key ${JSON.stringify(repeated)} twice`;
  if (why === undefined) return value;
  throw new UsageError(`Not strict JSON, because ${why}: ${text}`);
}

/** A key that an object in a JSON text has twice: of two, `JSON.parse` keeps the last without a word. */
export function findRepeatedKey(text: string): string | undefined {
  const open: Set<string>[] = [];
  for (const [token, string, colon] of text.matchAll(/[{}]|("(?:[^"\\]|\\.)*")\s*(:?)/g)) {
    if (token === '{') open.push(new Set());
    else if (token === '}') open.pop();
    else if (string !== undefined && colon === ':') {
      const key = String(parseJson(string));
      const keys = open.at(-1);
      if (keys?.has(key) === true) return key;
      keys?.add(key);
    }
  }
  return undefined;
}
