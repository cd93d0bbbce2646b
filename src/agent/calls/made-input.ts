import { readErrorText } from '../../content/app-errors.ts';
import type { SettingFailure } from '../../content/check-settings.ts';
import { cutFault } from '../../json/field-fault.ts';
import { copyPlain } from '../../json/json-value.ts';
import { type JsonForm, type JsonTypes, listUnshown, readForm } from '../../json/json-form.ts';
import { whyNotStrictJson } from '../../json/strict-json.ts';
import { pickToolCall, type ToolCallRecord, type CallPlace } from '../../content/tool-call.ts';
import { isEqualJson } from '../../policy/digest.ts';
import type { ThreadEvent } from '../../thread/thread-event.ts';
import type { ToolDefinition } from './tool-definitions.ts';

/* Makes the input again with the tool's schema before each start of its call. See ADR 77. */

/** The values that JSON can't fully express, as schemas have just made them for calls that may start. */
export class MadeInputs {
  readonly #values = new Map<string, unknown>();

  keep({ step, index }: CallPlace, value: unknown): void {
    this.#values.set(`${step}.${index}`, value);
  }

  /**
   * Takes the value for the tool of a call that starts: exactly the recorded one. Throws if the app has changed the value since its schema
   * made it.
   */
  take(call: ToolCallRecord): unknown {
    if (call.inputTypes === undefined) return copyPlain(call.input);
    const { step, index, toolCallId } = call;
    const value = this.#values.get(`${step}.${index}`);
    this.#values.delete(`${step}.${index}`);
    const form = readForm(value);
    if (!('fault' in form) && isRecorded(form, call)) return value;
    throw new TypeError(
      `Not run: the input of call ${toolCallId} was changed after its schema had made it.`,
    );
  }
}

/** Checks whether the form of a value is the recorded one. */
function isRecorded({ json, types }: JsonForm, { input, inputTypes }: ToolCallRecord): boolean {
  return isEqualJson(json, input) && isEqualJson(types, inputTypes);
}

/** The value that the schema of a call's tool makes now, and whether it is the one that it made before. */
export interface MadeAgain {
  made: unknown;
  form: JsonForm;
  isSame: boolean;
}

/** The value that the schema of a call's tool makes now, or why it makes none. */
export type Remade = MadeAgain | { error: string; reason: string };

/** Has the schema of a tool make the input of a call again. */
export async function remakeInput(
  { name, validation }: ToolDefinition,
  call: ToolCallRecord,
  report: (failure: SettingFailure) => void,
): Promise<Remade> {
  const { given = call.input, edit } = call;
  const validate = edit === undefined ? validation.call : validation.edit;
  try {
    const parsed = await validate(copyPlain(given));
    if (!parsed.success) return refuse(name, cutFault(readErrorText(parsed.error)));
    const form = readForm(parsed.value);
    if ('fault' in form) return refuse(name, form.fault);
    return { made: parsed.value, form, isSame: isRecorded(form, call) };
  } catch (error) {
    const setting = `tools.${name}.inputSchema`;
    const problem = 'It threw an error about the input of a call that was to start.';
    report({ setting, kind: 'error', problem, toolCall: pickToolCall(call), error });
    return refuse(name, 'it failed');
  }
}

/* The schema's own words may quote what the model wrote, such as a password: people read only the reason. */
function refuse(toolName: string, why: string): { error: string; reason: string } {
  const reason = `Not run: the input schema of tool '${toolName}' refuses the input`;
  return { error: `${reason}: ${why}.`, reason: `${reason}.` };
}

/** The event that records another value than the call had; none if it is the same. */
export function makeRemadeEvents(
  { step, index }: CallPlace,
  { form: { json: input, types }, isSame }: MadeAgain,
  at: number,
): ThreadEvent[] {
  return isSame ? [] : [{ type: 'input-remade', at, step, index, input, types }];
}

/** Finds the reason why people can't be shown an input; `undefined` if they can. */
export function whyNotShown(input: unknown, types: JsonTypes | undefined): string | undefined {
  const [unshown] = listUnshown(types);
  if (unshown === undefined) return whyNotStrictJson(input);
  const { path, type } = unshown;
  return `${path === '' ? 'it' : `field ${JSON.stringify(path)}`} is a value that JSON has no form for (${type})`;
}
