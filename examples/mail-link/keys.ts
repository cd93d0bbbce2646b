import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import type { LinkKey } from 'holdpoint/links';

/** The key of links: made at the first start, and kept, so that links count after a restart. An app keeps it with its other secrets. */
export async function openKeys(path: string): Promise<LinkKey[]> {
  const made = randomBytes(32).toString('base64url');
  /* Only for the owner, and never over one that is there. */
  const k = await writeFile(path, made, { mode: 0o600, flag: 'wx' }).then(
    () => made,
    async () => readFile(path, 'utf8'),
  );
  return [{ kty: 'oct', kid: '1', alg: 'HS256', k }];
}
