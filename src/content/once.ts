/** A function that makes its value at the first call, and returns the same one afterwards. */
export function makeOnce<VALUE extends object>(make: () => VALUE): () => VALUE {
  let made: VALUE | undefined;
  return () => (made ??= make());
}
