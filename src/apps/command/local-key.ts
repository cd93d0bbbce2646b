import { link, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { toBase64url } from '../../json/base64.ts';
import { makeRandomId } from '../../content/crypto.ts';

/** A secret that the processes of one user share. */
export interface LocalKey {
  /** Signs texts for a purpose: nobody can make the result without the key. */
  sign: (purpose: string, ...parts: readonly string[]) => Promise<string>;
  isSigned: (signature: string, purpose: string, ...parts: readonly string[]) => Promise<boolean>;
}

/** Reads the key in a file, which is made if it is missing. Throws for one that other users of the machine can read. */
export async function openLocalKey(file: string): Promise<LocalKey> {
  await makeKeyFile(file);
  const { mode } = await stat(file);
  if (process.platform !== 'win32' && (mode & 0o077) !== 0)
    throw new Error(`Other users can read the key ${file}. Run: chmod 600 ${file}`);
  const text = (await readFile(file, 'utf8')).trim();
  if (text.length < 40) throw new Error(`${file} has no key. Delete it, and a new one is made.`);
  return makeLocalKey(text);
}

/* The file has its text before it has its name, so that no process reads an empty one. */
async function makeKeyFile(file: string): Promise<void> {
  const draft = `${file}.${makeRandomId()}`;
  const text = makeRandomId() + makeRandomId();
  try {
    if (await exists(file)) return;
    await writeFile(draft, `${text}\n`, { mode: 0o600, flag: 'wx' });
    await link(draft, file);
  } catch (error) {
    /* Another process was faster. */
    if (!(await exists(file))) throw error;
  } finally {
    await rm(draft, { force: true });
  }
}

async function exists(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    () => false,
  );
}

/** A key of this text. */
export async function makeLocalKey(text: string): Promise<LocalKey> {
  const bytes = new TextEncoder().encode(text);
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  const key = await crypto.subtle.importKey('raw', bytes, algorithm, false, ['sign']);
  const sign: LocalKey['sign'] = async (...parts) => {
    const data = new TextEncoder().encode(JSON.stringify(parts));
    return toBase64url(new Uint8Array(await crypto.subtle.sign('HMAC', key, data)));
  };
  return {
    sign,
    /* The time of comparing two signatures of signatures reveals nothing about them. */
    isSigned: async (signature, ...parts) =>
      (await sign('compared', signature)) === (await sign('compared', await sign(...parts))),
  };
}
