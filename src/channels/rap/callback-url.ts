import { z } from 'zod';
import { fromBase64url, toBase64url } from '../../content/base64.ts';

/** A secret of the app: at least 32 bytes; of a text, in UTF-8. */
export type CallbackSecret = string | Uint8Array;

/** The one call that a callback may be about. */
export interface CallbackCall {
  threadId: string;
  toolName: string;
  toolCallId: string;
}

/** A capability as it came in: whose it says it is, and nothing of that is known to be true. */
export interface ClaimedCapability {
  claim: CallbackCall;
  text: string;
  signature: Uint8Array<ArrayBuffer>;
}

const minimumSecretBytes = 32;
/* No work for whoever sends more; most servers take no longer URLs either. */
const maximumLength = 16_384;
type Key = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

const parameter = 'call';
const purpose = 'holdpoint/rap-callback/v1\0';
const algorithm = { name: 'HMAC', hash: 'SHA-256' };
const claimSchema = z.tuple([z.string(), z.string(), z.string()]);

/**
 * Makes and knows callback URLs that nobody can guess: each has in it which call of which thread it is for, and an HMAC-SHA-256
 * over that. Nothing is kept, so that any process that has the secret can take the callback.
 */
export class CallbackKeys {
  readonly #secrets: readonly Uint8Array<ArrayBuffer>[];
  #imported: Promise<readonly Key[]> | undefined;

  /** The first secret signs, and all are known again. Throws a `TypeError` for a short one, or none. */
  constructor(secrets: CallbackSecret | readonly CallbackSecret[]) {
    this.#secrets = isSeveral(secrets) ? secrets.map(bytesOf) : [bytesOf(secrets)];
    if (this.#secrets.length === 0) throw new TypeError('remoteTool needs a secret.');
  }

  /** The URL for the callbacks of a call. */
  async urlFor(
    callbackUrl: URL,
    { threadId, toolName, toolCallId }: CallbackCall,
  ): Promise<string> {
    const claim = JSON.stringify([threadId, toolName, toolCallId]);
    const text = toBase64url(new TextEncoder().encode(claim));
    if (text.length > maximumLength) throw new Error('Not run: the ids of the call are too long.');
    const [key] = await this.#keys();
    if (key === undefined) throw new TypeError('remoteTool needs a secret.');
    const signature = await crypto.subtle.sign(algorithm, key, signed(text));
    const url = new URL(callbackUrl);
    url.searchParams.set(parameter, `${text}.${toBase64url(new Uint8Array(signature))}`);
    return url.href;
  }

  /** Whether a capability was made with one of the secrets; compared in constant time, as WebCrypto does. */
  async know({ text, signature }: ClaimedCapability): Promise<boolean> {
    const keys = await this.#keys();
    const known = await Promise.all(
      keys.map(async (key) => crypto.subtle.verify(algorithm, key, signature, signed(text))),
    );
    return known.includes(true);
  }

  async #keys(): Promise<readonly Key[]> {
    this.#imported ??= Promise.all(
      this.#secrets.map(async (secret) =>
        crypto.subtle.importKey('raw', secret, algorithm, false, ['sign', 'verify']),
      ),
    );
    return this.#imported;
  }
}

/** The capability in a callback's URL; `undefined` where there is nothing of the kind. */
export function capabilityIn(url: string): ClaimedCapability | undefined {
  const all = new URL(url).searchParams.getAll(parameter);
  const [text = '', mac = '', ...more] = (all.length === 1 ? (all[0] ?? '') : '').split('.');
  if (more.length > 0 || text.length > maximumLength) return undefined;
  const signature = fromBase64url(mac);
  const claim = claimSchema.safeParse(parsed(fromBase64url(text))).data;
  if (signature === undefined || claim === undefined) return undefined;
  const [threadId, toolName, toolCallId] = claim;
  return { claim: { threadId, toolName, toolCallId }, text, signature };
}

function isSeveral(
  secrets: CallbackSecret | readonly CallbackSecret[],
): secrets is readonly CallbackSecret[] {
  return Array.isArray(secrets);
}

function bytesOf(secret: CallbackSecret): Uint8Array<ArrayBuffer> {
  const bytes = typeof secret === 'string' ? new TextEncoder().encode(secret) : secret.slice();
  if (bytes.length >= minimumSecretBytes) return Uint8Array.from(bytes);
  throw new TypeError(`The secret of remoteTool must have at least ${minimumSecretBytes} bytes.`);
}

/* For one purpose: what the secret signs for another is no capability. */
function signed(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(purpose + text);
}

function parsed(bytes: Uint8Array<ArrayBuffer> | undefined): unknown {
  if (bytes === undefined) return undefined;
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
}
