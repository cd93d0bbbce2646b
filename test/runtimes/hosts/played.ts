/** A play, or a case of the stores: it fails by throwing. */
export type Check = () => Promise<void>;

/** What became of each check, by its name: `passed`, or what went wrong. */
export async function played(checks: Record<string, Check>): Promise<Record<string, string>> {
  const results: Record<string, string> = {};
  for (const [name, check] of Object.entries(checks)) {
    results[name] = await check().then(
      () => 'passed',
      (error: unknown) => (error instanceof Error ? (error.stack ?? error.message) : String(error)),
    );
  }
  return results;
}

/** Throws unless both are the same JSON: `node:assert` isn't everywhere. */
export function equal(found: unknown, expected: unknown): void {
  const [one, other] = [JSON.stringify(found), JSON.stringify(expected)];
  if (one !== other) throw new Error(`Expected ${other}, got ${one}.`);
}
