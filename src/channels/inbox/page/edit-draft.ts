import { isObject } from '../../../content/json-value.ts';

/** What somebody has typed into the form of an edit. */
export interface EditDraft {
  entered: ReadonlyMap<string, unknown>;
  input?: unknown;
  faults: readonly string[];
}

export function readEditDraft(draft: unknown): EditDraft | undefined {
  return isDraft(draft) ? draft : undefined;
}

function isDraft(draft: unknown): draft is EditDraft {
  return isObject(draft) && draft['entered'] instanceof Map && Array.isArray(draft['faults']);
}
