import { WebhookSignatures } from '../webhook-signatures.ts';
import type { Caller } from './running-calls.ts';
import type { ToolServerOptions } from './tool-server-options.ts';

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

/** The caller that gets its callbacks at a URL, where nothing is signed. */
export function makeUnsignedCaller(callbackUrl: URL): Caller {
  return { id: ['origin', callbackUrl.origin], signatures: undefined };
}
