/**
 * The provider's own error, marked so that the AI SDK does not try the call again: the run has tried what there was to try,
 * and what it recorded stands.
 */
export function unretried(error: unknown): unknown {
  if (error instanceof Error && Reflect.get(error, 'isRetryable') === true) {
    Reflect.defineProperty(error, 'isRetryable', { value: false, enumerable: true });
  }
  return error;
}
