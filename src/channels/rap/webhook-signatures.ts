import { Webhook } from 'standardwebhooks';

/** The secret that the app and the tool server share, in the form of Standard Webhooks: base64, optionally with the prefix `whsec_`. */
export interface SigningOptions {
  /** At least 24 bytes. Of several secrets, the first signs and all are accepted. */
  secret: string | readonly string[];
}

/** Signs and verifies messages as Standard Webhooks does, over the text as it is sent. */
export class WebhookSignatures {
  readonly #webhooks: readonly Webhook[];

  /** Throws a `TypeError` without a secret, or for one that is not base64 or too short. */
  constructor({ secret }: SigningOptions) {
    this.#webhooks = [secret].flat().map(makeWebhook);
    if (this.#webhooks.length === 0) throw new TypeError('signing needs a secret.');
  }

  /** The headers for a body. A message that is sent again keeps its `id`. */
  makeHeaders(id: string, body: string): Record<string, string> {
    const now = new Date();
    return {
      'webhook-id': id,
      'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
      'webhook-signature': this.#webhooks[0]?.sign(id, now, body) ?? '',
    };
  }

  /** Checks whether a body was signed with one of the secrets within the last five minutes. */
  verify(headers: Headers, body: string): boolean {
    const named = Object.fromEntries(headers);
    return this.#webhooks.some((webhook) => isSigned(webhook, named, body));
  }
}

function makeWebhook(secret: string): Webhook {
  let length = 0;
  try {
    length = atob(secret.replace(/^whsec_/, '')).length;
  } catch {
    /* Text that is not base64 counts as too short. */
  }
  if (length < 24) {
    throw new TypeError('Each secret of signing must have at least 24 bytes, encoded as base64.');
  }
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
