import { Webhook } from 'standardwebhooks';

/** The secret that the app and the tool server share: as Standard Webhooks has it, base64, with `whsec_` before it or not. */
export interface SigningOptions {
  /** Of several, the first signs and all are known again. */
  secret: string | readonly string[];
}

/** Signs what is sent to a tool server, and knows what comes from it: Standard Webhooks, over the text as it is on the wire. */
export class WebhookSignatures {
  readonly #webhooks: readonly Webhook[];

  /** Throws for a secret that is not base64, or none. */
  constructor({ secret }: SigningOptions) {
    const secrets = typeof secret === 'string' ? [secret] : secret;
    this.#webhooks = secrets.map((each) => new Webhook(each));
    if (this.#webhooks.length === 0) throw new TypeError('signing needs a secret.');
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

function isSigned(webhook: Webhook, headers: Record<string, string>, body: string): boolean {
  try {
    webhook.verify(body, headers, { jsonParse: false });
    return true;
  } catch {
    return false;
  }
}
