// webhookReceiver.ts
import { Webhook } from 'standardwebhooks';

/** Accepts each message once. It needs the body as it came, and throws for a wrong or an old signature. */
export function webhookReceiver(secret: string, accept: (message: unknown) => unknown) {
  const webhook = new Webhook(secret);
  const known = new Set<string>(); // in your database: a column with a unique key
  return async (body: string, headers: Record<string, string>) => {
    const message = webhook.verify(body, headers);
    const { 'webhook-id': id = '' } = headers;
    if (known.has(id)) return;
    known.add(id);
    await accept(message);
  };
}
