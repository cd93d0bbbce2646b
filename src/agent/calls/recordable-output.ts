import type { JSONValue } from 'ai';
import { z } from 'zod';
import { errorText } from '../../content/error-text.ts';
import { depthInLog, toJson } from '../../thread/tagged-json.ts';

const jsonSchema = z.custom<JSONValue>((value) => value !== undefined);

/** The output as JSON. The call has happened, so an output that JSON can't hold is still a success. */
export function recordableOutput(output: unknown): JSONValue {
  try {
    if (typeof output === 'function' || typeof output === 'symbol') {
      throw new TypeError(`JSON can't express a ${typeof output}.`);
    }
    toJson(output);
    const text = JSON.stringify(output);
    if (text === undefined) return null;
    const json: unknown = JSON.parse(text);
    /* After its `toJSON` methods. An output that is too deep for the log must be refused here: the call could never end. */
    toJson(json, depthInLog);
    return jsonSchema.parse(json);
  } catch (error) {
    return `[The call succeeded. Its output can't be recorded as JSON: ${errorText(error).slice(0, 200)}]`;
  }
}
