/** Who asks. */
export interface Person {
  name: string;
}

const namePattern = /^[A-Za-z]{1,30}$/;

/**
 * THE DEMO'S STAND-IN FOR A SIGN-IN: the page says a name, and is believed. An app looks up a session here, and everything
 * else in this example stays as it is. The query is for `EventSource`, which can't send headers.
 */
export function personOf(request: Request): Person | undefined {
  const name = request.headers.get('x-demo-name') ?? new URL(request.url).searchParams.get('as');
  return name !== null && namePattern.test(name) ? { name } : undefined;
}

/** A thread belongs to the name before the dot, so that a person's threads are one range of ids in the store. */
export function ownerPrefix({ name }: Person): string {
  return `${name}.`;
}

/** Whether a person may see a thread, and write to it. */
export function owns(person: Person, threadId: string): boolean {
  return threadId.startsWith(ownerPrefix(person));
}
