import { z } from 'zod';
import { parseBase64url, toBase64url } from '../../json/base64.ts';

/** A secret of the app: at least 32 bytes; a string counts in UTF-8. */
export type CallbackSecret = string | Uint8Array;

/** The only call that a callback may be about. */
export interface CallbackCall {
  threadId: string;
  toolName: string;
  toolCallId: string;
}

/** A capability from a request; its `claim` is not verified yet. */
interface ClaimedCapability {
  claim: CallbackCall;
  text: string;
  signature: Uint8Array<ArrayBuffer>;
}

const minimumSecretBytes = 32;
/* Longer ones are not decoded; most servers refuse such URLs anyway. */
const maximumLength = 16_384;
type Key = Awaited<ReturnType<typeof crypto.subtle.importKey>>;

const parameter = 'call';
const purpose = 'holdpoint/rap-callback/v1\0';
const algorithm = { name: 'HMAC', hash: 'SHA-256' };
const claimSchema = z.tuple([z.string(), z.string(), z.string()]);

/**
 * Creates and verifies callback URLs that nobody can guess. Each names the call and its thread, with an HMAC-SHA-256 over both.
 * Nothing is stored, so that every process with the secret can handle the callback.
 */
export class CallbackKeys {
  readonly #secrets: readonly Uint8Array<ArrayBuffer>[];
  #imported: Promise<readonly Key[]> | undefined;

  /** The first secret signs; all are accepted. Throws a `TypeError` without a secret or for one that is too short. */
  constructor(secrets: CallbackSecret | readonly CallbackSecret[]) {
    this.#secrets = isSeveral(secrets)
      ? secrets.map(checkSecretBytes)
      : [checkSecretBytes(secrets)];
    if (this.#secrets.length === 0) throw new TypeError('remoteTool needs a secret.');
  }

  /** The URL for the callbacks of a call. Rejects if the ids of the call are too long for one. */
  async makeUrl(callbackUrl: URL, call: CallbackCall): Promise<string> {
    const [url] = await this.makeUrls(callbackUrl, call);
    if (url === undefined) throw new TypeError('remoteTool needs a secret.');
    return url;
  }

  /** The same, one for each secret: a call that was sent before a change of secrets has one of the later ones. */
  async makeUrls(
    callbackUrl: URL,
    { threadId, toolName, toolCallId }: CallbackCall,
  ): Promise<string[]> {
    const claim = JSON.stringify([threadId, toolName, toolCallId]);
    const text = toBase64url(new TextEncoder().encode(claim));
    if (text.length > maximumLength) throw new Error('Not run: the ids of the call are too long.');
    const keys = await this.#keys();
    return Promise.all(
      keys.map(async (key) => {
        const signature = await crypto.subtle.sign(algorithm, key, encodeSignedText(text));
        const url = new URL(callbackUrl);
        url.searchParams.set(parameter, `${text}.${toBase64url(new Uint8Array(signature))}`);
        return url.href;
      }),
    );
  }

  /** Checks whether a capability was created with one of the secrets. WebCrypto compares in constant time. */
  async verify({ text, signature }: ClaimedCapability): Promise<boolean> {
    const keys = await this.#keys();
    const known = await Promise.all(
      keys.map(async (key) =>
        crypto.subtle.verify(algorithm, key, signature, encodeSignedText(text)),
      ),
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

/** The capability in a callback's URL; `undefined` if there is none. */
export function readCapability(url: string): ClaimedCapability | undefined {
  const all = new URL(url).searchParams.getAll(parameter);
  const [text = '', mac = '', ...more] = (all.length === 1 ? (all[0] ?? '') : '').split('.');
  if (more.length > 0 || text.length > maximumLength) return undefined;
  const signature = parseBase64url(mac);
  const claim = claimSchema.safeParse(decodeJson(parseBase64url(text))).data;
  if (signature === undefined || claim === undefined) return undefined;
  const [threadId, toolName, toolCallId] = claim;
  return { claim: { threadId, toolName, toolCallId }, text, signature };
}

function isSeveral(
  secrets: CallbackSecret | readonly CallbackSecret[],
): secrets is readonly CallbackSecret[] {
  return Array.isArray(secrets);
}

function checkSecretBytes(secret: CallbackSecret): Uint8Array<ArrayBuffer> {
  const bytes = typeof secret === 'string' ? new TextEncoder().encode(secret) : secret.slice();
  if (bytes.length >= minimumSecretBytes) return Uint8Array.from(bytes);
  throw new TypeError(`The secret of remoteTool must have at least ${minimumSecretBytes} bytes.`);
}

/* Includes the purpose: a signature that was made with the same secret for something else is not a capability. */
function encodeSignedText(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(purpose + text);
}

function decodeJson(bytes: Uint8Array<ArrayBuffer> | undefined): unknown {
  if (bytes === undefined) return undefined;
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return undefined;
  }
}
