import { Webhook } from 'standardwebhooks';

/** The secret that the app and the tool server share: as Standard Webhooks has it, base64, with `whsec_` before it or not. */
export interface SigningOptions {
  /** Of several, the first signs and all are known again. */
  secret: string | readonly string[];
}

/** Signs what is sent to a tool server, and knows what comes from it: Standard Webhooks, over the text as it is on the wire. */
export class WebhookSignatures {
  readonly #webhooks: readonly Webhook[];

  /** Throws a `TypeError` for no secret, and for one that is not base64 or too short. */
  constructor({ secret }: SigningOptions) {
    this.#webhooks = [secret].flat().map(webhookOf);
    if (this.#webhooks.length === 0) throw new TypeError('signing has no secret.');
  }

  /** The headers for a body. `id` is the same each time that the same is sent. */
  headersFor(id: string, body: string): Record<string, string> {
    const now = new Date();
    return {
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
      'webhook-signature': this.#webhooks[0]?.sign(id, now, body) ?? '',
    };
  }

  /** Whether a body is signed with one of the secrets, not more than five minutes ago. */
  know(headers: Headers, body: string): boolean {
    const named = Object.fromEntries(headers);
    return this.#webhooks.some((webhook) => isSigned(webhook, named, body));
  }
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

function isSigned(webhook: Webhook, headers: Record<string, string>, body: string): boolean {
  try {
    webhook.verify(body, headers, { jsonParse: false });
    return true;
  } catch {
    return false;
  }
}
