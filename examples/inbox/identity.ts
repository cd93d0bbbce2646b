/** The person who sent a request. Their name is their principal. */
export interface Person {
  name: string;
}

const namePattern = /^[A-Za-z]{1,30}$/;

/**
 * THE DEMO'S STAND-IN FOR A SIGN-IN: the page sends a name, and the server trusts it. An app looks up a session here; everything else in
 * this example can stay as it is. The query parameter is for `EventSource`, which can't send headers.
 */
export function personOf(request: Request): Person | undefined {
  const name = request.headers.get('x-demo-name') ?? new URL(request.url).searchParams.get('as');
  return name !== null && namePattern.test(name) ? { name } : undefined;
}

/** A thread belongs to the person whose name precedes the dot in its id, so that a person's threads are one range of ids in the store. */
export function ownerPrefix({ name }: Person): string {
  return `${name}.`;
}

/** Whether a person may read a thread and write to it. */
export function owns(person: Person, threadId: string): boolean {
  return threadId.startsWith(ownerPrefix(person));
}
