import { isDraft, isModified, produce } from 'immer';
import { copyPlain } from './plain-copy.ts';
import type { ToolCall } from './tool-call.ts';

/** The input of an approval: as given, or as `edit` makes it of the one that is shown; `undefined` for neither. */
export function applyInputEdit(
  { requestId, toolCall }: { requestId: string; toolCall?: ToolCall | undefined },
  { input, edit }: { input?: unknown; edit?: ((draft: unknown) => unknown) | undefined },
): unknown {
  if (edit === undefined) return input;
  const shown = toolCall?.input;
  if (input !== undefined || typeof shown !== 'object' || shown === null) {
    throw new TypeError(
      `Request ${requestId} can't be approved with 'edit': ${
        input === undefined ? "its input is not an object; pass 'input'" : "pass 'input' or 'edit'"
      }.`,
    );
  }
  /* A copy, as what is shown is the app's: immer would freeze some of it, and share the rest with the answer. */
  return produce(copyPlain(shown), (draft: unknown) => {
    const made = edit(draft);
    const fault = whyNotEdited(draft, made);
    if (fault !== undefined) throw new TypeError(`Request ${requestId}: 'edit' ${fault}.`);
    return typeof made === 'object' && made !== null ? made : undefined;
  });
}

/** Why an edit that has returned `made` doesn't say what the new input is; `undefined` if it does. An assignment returns its value. */
function whyNotEdited(draft: unknown, made: unknown): string | undefined {
  if (typeof made === 'function')
    return 'returned a function; change the draft, or return the new input';
  if (typeof made !== 'object' || made === null || made === draft) return undefined;
  if ('then' in made && typeof made.then === 'function') {
    /* It goes on, and fails where the draft is over. */
    void Promise.resolve(made).catch(() => undefined);
    return "can't be async: prepare the values before, and change the draft without await";
  }
  if (!isModified(draft) && !isDraft(made)) return undefined;
  return 'must either change the draft or return the new input; if it only changes the draft, give it a body in braces';
}
