/** Calls a listener of the app. Whatever it does, this resolves. */
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
