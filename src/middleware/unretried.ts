/**
 * The provider's own error, marked so that the AI SDK does not try the call again: the run has tried what there was to try,
 * and what it recorded stands. One that can't be marked is the prototype of one that is.
 */
export function unretried(error: unknown): unknown {
  if (!(error instanceof Error) || Reflect.get(error, 'isRetryable') !== true) return error;
  const mark = { value: false, enumerable: true };
  if (Reflect.defineProperty(error, 'isRetryable', mark)) return error;
  const marked: unknown = Object.create(error, { isRetryable: mark });
  return marked;
}
