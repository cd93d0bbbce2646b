/** The message of a thrown value, which need not be an `Error`. Never throws. */
export function readErrorText(error: unknown): string {
  try {
    const message = error instanceof Error ? error.message : error;
    const text = typeof message === 'string' ? message : JSON.stringify(message);
    return text || 'It failed without a message.';
  } catch {
    return 'It failed with an error that has no readable message.';
  }
}

/** Calls a listener of the app. It resolves in any case. */
export async function callGuarded<EVENT>(
  listener: ((event: EVENT) => unknown) | undefined,
  event: EVENT,
): Promise<void> {
  try {
    await listener?.(event);
  } catch {
    /* A listener can't undo what has happened. */
  }
}
