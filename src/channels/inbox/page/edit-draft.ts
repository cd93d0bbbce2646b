import { isObject } from '../../../content/json-value.ts';

/** What somebody has typed into the form of an edit. */
export interface EditDraft {
  texts: Record<string, string>;
  input?: unknown;
  faults: readonly string[];
}

export function readEditDraft(draft: unknown): EditDraft | undefined {
  return isDraft(draft) ? draft : undefined;
}

function isDraft(draft: unknown): draft is EditDraft {
  return isObject(draft) && isObject(draft['texts']) && Array.isArray(draft['faults']);
}
