import { makeRandomId } from '../../../content/crypto.ts';
import { type Poster, postWithRetries } from '../post-json.ts';
import { WebhookSignatures } from '../webhook-signatures.ts';
import type { ToolServerOptions } from './tool-server-options.ts';

/** A sender of messages to a tool server, and the owner of the calls that it sends. */
export interface Caller {
  /**
   * The name of the signing secret, `null` where all callers share one; where nothing is signed, the origin of the callbacks, which anybody
   * can claim. It survives a restart and a new secret.
   */
  id: readonly ['secret', string | null] | readonly ['origin', string];
  /** Signs what is sent to the caller. */
  signatures: WebhookSignatures | undefined;
}

/** The callers that have a secret; `undefined` where nothing is signed. Throws a `TypeError` without a secret or for an invalid one. */
export function listSignedCallers(
  signing: ToolServerOptions['signing'],
): readonly Caller[] | undefined {
  if (signing === undefined) return undefined;
  if (signing.callers === undefined) {
    return [{ id: ['secret', null], signatures: new WebhookSignatures(signing) }];
  }
  if (signing.secret !== undefined) {
    throw new TypeError('signing takes the secret of one caller, or callers, not both.');
  }
  const named = Object.entries(signing.callers);
  if (named.length === 0) throw new TypeError('signing.callers names no caller.');
  const callers = named.map(([name, secret]): Caller => {
    return { id: ['secret', name], signatures: new WebhookSignatures({ secret }) };
  });
  refuseSharedSecrets(named);
  return callers;
}

function refuseSharedSecrets(
  named: readonly (readonly [name: string, secret: string | readonly string[]])[],
): void {
  const owners = new Map<string, string>();
  for (const [name, secrets] of named) {
    for (const secret of [secrets].flat()) {
      const bytes = atob(secret.replace(/^whsec_/, ''));
      const owner = owners.get(bytes) ?? name;
      if (owner !== name) {
        throw new TypeError(`The callers '${owner}' and '${name}' have the same secret.`);
      }
      owners.set(bytes, name);
    }
  }
}

/** The caller that signed a body. */
export function findSigner(
  callers: readonly Caller[],
  headers: Headers,
  body: string,
): Caller | undefined {
  return callers.find(({ signatures }) => signatures?.verify(headers, body));
}

/** Makes the caller that gets its callbacks at a URL, where nothing is signed. */
export function makeUnsignedCaller(callbackUrl: URL): Caller {
  return { id: ['origin', callbackUrl.origin], signatures: undefined };
}

/** Sends a message to a runtime. Rejects if it could not be delivered or `signal` aborts. */
export type SendCallback = (url: string, message: object, signal: AbortSignal) => Promise<void>;

const longestPauseMs = 60_000;

/** Creates a `SendCallback` for a caller. It gives each message a new id, signs it for the caller, and retries it. */
export function makeCallbackSender(
  poster: Omit<Poster, 'signatures'>,
  retries: number,
): (caller: Caller) => SendCallback {
  return ({ signatures }) =>
    async (url, body, signal) => {
      const post = { id: `msg_${makeRandomId()}`, url, body, signal };
      await postWithRetries({ ...poster, signatures }, post, {
        retries,
        pauseMs: (retried) => Math.min(1_000 * 2 ** retried, longestPauseMs),
        wait: poster.timer,
        fault: 'The runtime did not accept the message',
      });
    };
}
