import { enablePatches, produceWithPatches } from 'immer';
import {
  type ApprovalRequest,
  type ApprovalResponseContent,
  undoEdit,
} from '../../content/approval.ts';
import { type Patch, patchSchema } from '../../content/tool-call.ts';
import { copyPlain } from '../../json/json-value.ts';
import { HoldpointError } from '../../errors.ts';
import { editDigest, isEqualJson } from '../../policy/digest.ts';
import { callAt, type OpenRequest } from '../../thread/thread-head.ts';
import type { ThreadEventOf } from '../../thread/thread-event.ts';
import type { ThreadState } from '../../thread/thread-state.ts';
import { renderEditedText } from '../calls/decide-calls.ts';
import { type EditFault, makeCarriedValidation, whyNotEdited } from '../calls/input-validation.ts';
import { makeDefaultText } from '../calls/make-request.ts';
import { makeMissingToolError, type ToolDefinitions } from '../calls/tool-definitions.ts';
import type { AnswerContext } from './right-to-answer.ts';

/** An edited input, the changes in the model's input, and the text and digest of the request with it. */
export type Edited = NonNullable<ThreadEventOf<'request-answered'>['edit']>;

/**
 * The edit that an answer makes; without an `input`, the request as the model asked for it. Throws `invalid-answer` for an input that the
 * request, or the tool's schema, doesn't allow.
 */
export async function checkEdit(
  context: AnswerContext,
  state: Readonly<ThreadState>,
  { open, request, response }: EditingAnswer,
): Promise<Edited> {
  const asked = undoEdit(request);
  const { requestId, toolCall } = asked;
  const original = toolCall?.input;
  const { input } = response;
  if (input === undefined || isEqualJson(input, original)) {
    return { input: original, patches: [], digest: asked.digest };
  }
  const tools = await context.definedTools();
  const patches = comparePatches(original, input);
  const { place } = open;
  const call = callAt(state.head, place);
  const why = response.approved
    ? (whyNotEditable(request, patches, call?.attempts ?? 0) ??
      (await whyNotInput(tools, request, input)))
    : makeEditFault('a rejection has no input');
  if (why === undefined && toolCall !== undefined) {
    const definition = tools.get(toolCall.toolName);
    const text =
      definition === undefined || place === undefined
        ? makeDefaultText(toolCall.toolName)
        : await renderEditedText(context, state, {
            definition,
            call: { ...toolCall, input, ...place },
          });
    return makeEdit(asked, input, text);
  }
  throw new HoldpointError(
    'invalid-answer',
    `Request ${requestId} can't be approved with this input: ${why?.text}. The request stays open.`,
    { requestId, field: why?.field, reason: why?.reason },
  );
}

/** An answer that may edit. */
interface EditingAnswer {
  open: OpenRequest;
  request: ApprovalRequest;
  response: ApprovalResponseContent;
}

/** Makes the edit that turns the input of a request, as the model asked for it, into this one, with the question about it. */
export async function makeEdit(
  asked: ApprovalRequest,
  input: unknown,
  text: string,
): Promise<Edited> {
  const patches = comparePatches(asked.toolCall?.input, input);
  const digest = await editDigest(asked.digest, { input, text });
  return { input, ...(text === asked.text ? {} : { text }), patches, digest };
}

/** Lists the patches that make one value into another, one for each value that differs. A value that is replaced whole has no path. */
function comparePatches(original: unknown, edited: unknown): Patch[] {
  if (isEqualJson(original, edited)) return [];
  enablePatches();
  const [, patches] = produceWithPatches(original, (draft: unknown) => {
    const value = copyPlain(edited);
    if (!isPlainObject(draft) || !isPlainObject(value)) return value;
    copyInto(draft, value);
    return undefined;
  });
  return patches.map((patch) => patchSchema.parse(patch));
}

/** Makes a draft equal to a value, changing only what differs: immer has no comparison of two values. */
function copyInto(draft: object, value: object): void {
  for (const name of Object.keys(draft)) {
    if (!Object.hasOwn(value, name)) Reflect.deleteProperty(draft, name);
  }
  for (const [name, item] of Object.entries(value)) {
    const present: unknown = Reflect.get(draft, name);
    if (isPlainObject(present) && isPlainObject(item)) copyInto(present, item);
    else if (!isEqualJson(present, item)) Reflect.set(draft, name, item);
  }
}

function isPlainObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function whyNotEditable(
  { editable }: ApprovalRequest,
  patches: readonly Patch[],
  attempts: number,
): EditFault | undefined {
  if (editable === undefined) return makeEditFault("its rule doesn't mark it as editable");
  /* The first attempt may have taken effect, under the same idempotency key. */
  if (attempts > 0) return makeEditFault('the call was started before with another input');
  if (editable === true) return undefined;
  const other = patches.find(({ path: [field] }) => !editable.includes(String(field)));
  if (other === undefined) return undefined;
  const [field] = other.path;
  const named = field === undefined ? 'The whole input' : `Field ${JSON.stringify(field)}`;
  const reason = `is not editable; editable fields are ${editable.join(', ')}`;
  const at = field === undefined ? {} : { field: [String(field)] };
  return { ...at, reason, text: `${named} ${reason}` };
}

function makeEditFault(reason: string): EditFault {
  return { reason, text: reason };
}

/**
 * Finds the fault of an input; `undefined` if it is accepted as it is. Without the tool, the schema in the stored request decides: the
 * process that runs the call asks the tool itself.
 */
async function whyNotInput(
  tools: ToolDefinitions,
  request: ApprovalRequest,
  input: unknown,
): Promise<EditFault | undefined> {
  const { toolCall, inputSchema } = request;
  if (toolCall === undefined) return makeEditFault('the request is not about a call');
  const definition = tools.get(toolCall.toolName);
  if (definition !== undefined) return whyNotEdited(definition.validation.edit, input);
  if (inputSchema === undefined) throw makeMissingToolError(request, toolCall.toolName);
  return whyNotEdited(makeCarriedValidation(inputSchema), input);
}
