/* A page's parameter has a name of its own: unused, it begins with `_`. */
const openSignIn =
  /(async function userOf\(\s*(\w+): Request\b.*?\n {2})return undefined; (?=\/\/)/s;

/**
 * The files of a page of the docs, with a sign-in where the page leaves it open. `write` returns the statement that returns the user, from the
 * name of the variable that holds the request. It throws if no file leaves a sign-in open.
 */
export function fillSignIn(
  files: ReadonlyMap<string, string>,
  write: (request: string) => string,
): Map<string, string> {
  if (![...files.values()].some((text) => openSignIn.test(text)))
    throw new Error(`No sign-in is open in ${[...files.keys()].join(', ')}.`);
  const fill = (text: string): string =>
    text.replace(
      openSignIn,
      (_all, before: string, request: string) => `${before}${write(request)} `,
    );
  return new Map([...files].map(([name, text]) => [name, fill(text)]));
}
