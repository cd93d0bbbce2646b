import { enablePatches, produceWithPatches } from 'immer';
import type { ApprovalRequest, ApprovalResponseContent } from '../../content/approval.ts';
import type { Patch } from '../../content/patch.ts';
import { patchSchema } from '../../content/patch.ts';
import { plainCopy } from '../../content/plain-copy.ts';
import { HoldpointError } from '../../errors.ts';
import { editDigest, equalJson } from '../../policy/digest.ts';
import { callAt } from '../../thread/find-call.ts';
import type { OpenRequest, ThreadState } from '../../thread/thread-state.ts';
import { missingTool, parsedInput, type ToolDefinitions } from '../calls/tool-definitions.ts';

/** An edited input, what was changed in the input that the model asked for, and the digest of the request with it. */
export interface Edited {
  input: unknown;
  patches: Patch[];
  digest: string;
}

/**
 * The edit that an answer makes; without an `input`, the request as the model asked for it. Throws `invalid-answer` for an input that the
 * request, or the tool's schema, doesn't allow.
 */
export async function editOf(
  state: Readonly<ThreadState>,
  tools: ToolDefinitions,
  {
    open,
    request,
    response,
  }: { open: OpenRequest; request: ApprovalRequest; response: ApprovalResponseContent },
): Promise<Edited> {
  const { digest, edit: pending, toolCall, requestId } = request;
  const original = toolCall?.input;
  const originalDigest = pending?.originalDigest ?? digest;
  const { input } = response;
  if (input === undefined || equalJson(input, original)) {
    return { input: original, patches: [], digest: originalDigest };
  }
  const patches = patchesOf(original, input);
  const call = callAt(state.head, open.place);
  const why = response.approved
    ? (whyNotEditable(request, patches, call?.attempts ?? 0) ??
      (await whyNotInput(tools, request, input)))
    : 'a rejection has no input';
  if (why === undefined) {
    return { input, patches, digest: await editDigest(originalDigest, input) };
  }
  throw new HoldpointError(
    'invalid-answer',
    `Request ${requestId} can't be approved with this input: ${why}. The request stays open.`,
    { requestId },
  );
}

/** What makes one value into another, each value that differs on its own. */
function patchesOf(original: unknown, edited: unknown): Patch[] {
  enablePatches();
  const [, patches] = produceWithPatches({ input: plainCopy(original) }, (draft) => {
    become(draft, 'input', plainCopy(edited));
  });
  /* Without the key of the wrapper. A value that is replaced whole has no path left. */
  return patches.map(({ path, ...patch }) => patchSchema.parse({ ...patch, path: path.slice(1) }));
}

/** Makes a property of a draft equal to a value, changing only what differs. */
function become(draft: object, key: string, value: unknown): void {
  const present: unknown = Reflect.get(draft, key);
  if (!isPlainObject(present) || !isPlainObject(value)) {
    if (!equalJson(present, value)) Reflect.set(draft, key, value);
    return;
  }
  for (const name of Object.keys(present)) {
    if (!Object.hasOwn(value, name)) Reflect.deleteProperty(present, name);
  }
  for (const [name, item] of Object.entries(value)) become(present, name, item);
}

function isPlainObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function whyNotEditable(
  { editable }: ApprovalRequest,
  patches: readonly Patch[],
  attempts: number,
): string | undefined {
  if (editable === undefined) return "its rule doesn't mark it as editable";
  /* The first attempt may have taken effect, under the same idempotency key. */
  if (attempts > 0) return 'the call was started before with another input';
  if (editable === true) return undefined;
  const other = patches.find(({ path: [field] }) => !editable.includes(String(field)));
  if (other === undefined) return undefined;
  const [field] = other.path;
  const named = field === undefined ? 'The whole input' : `Field ${JSON.stringify(field)}`;
  return `${named} is not editable; editable fields are ${editable.join(', ')}`;
}

/** Why the tool's schema does not accept an input as it is; `undefined` if it does. A sub-agent's call is checked by the sub-agent. */
async function whyNotInput(
  tools: ToolDefinitions,
  { toolCall, path, ...request }: ApprovalRequest,
  input: unknown,
): Promise<string | undefined> {
  if (toolCall === undefined) return 'the request is not about a call';
  if (path !== undefined) return undefined;
  const definition = tools.get(toolCall.toolName);
  if (definition === undefined) throw missingTool(request, toolCall.toolName);
  const parsed = await parsedInput(definition, plainCopy(input));
  if (parsed === undefined) return undefined;
  if (!parsed.success) return `it does not match the tool's input schema: ${parsed.error.message}`;
  if (equalJson(plainCopy(parsed.value), input)) return undefined;
  /* What runs is what was approved: a schema that changes the input would run something else. */
  return "the tool's input schema would change it; send the input as the tool gets it";
}
