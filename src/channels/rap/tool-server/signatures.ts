import { Webhook } from 'standardwebhooks';
import { randomId } from '../../../content/random-id.ts';

/** Signs what goes and checks what comes, by Standard Webhooks. */
export interface Signatures {
  /** Whether a body was signed by somebody with a secret; a body that could not be read was not. */
  isSigned(headers: Headers, text: string | undefined): boolean;
  /** Headers for each try of sending one message: its id stays, its time is that of the try. */
  signer(text: string): () => Record<string, string>;
}

/** Nothing is signed, and nothing needs to be. */
const none: Signatures = { isSigned: () => true, signer: () => () => ({}) };

/** Throws a `TypeError` for a secret that is none, or too short. */
export function signatures(secrets: string | readonly string[] | undefined): Signatures {
  if (secrets === undefined) return none;
  const webhooks = [secrets].flat().map(webhookOf);
  const [first] = webhooks;
  if (first === undefined) throw new TypeError('signing has no secret.');
  return {
    isSigned: (headers, text) =>
      text !== undefined && webhooks.some((webhook) => isSignedBy(webhook, headers, text)),
    signer(text) {
      const id = `msg_${randomId()}`;
      return () => {
        const at = new Date();
        return {
          'webhook-id': id,
          'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
          'webhook-signature': first.sign(id, at, text),
        };
      };
    },
  };
}

function webhookOf(secret: string): Webhook {
  let length = 0;
  try {
    length = atob(secret.replace(/^whsec_/, '')).length;
  } catch {
    /* What is no base64 has no bytes. */
  }
  if (length < 24) throw new TypeError('A secret of signing needs at least 24 bytes, as base64.');
  return new Webhook(secret);
}

function isSignedBy(webhook: Webhook, headers: Headers, text: string): boolean {
  try {
    webhook.verify(text, Object.fromEntries(headers), { jsonParse: false });
    return true;
  } catch {
    return false;
  }
}
