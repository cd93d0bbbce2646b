import { createHmac } from 'node:crypto';

/* By the document of Standard Webhooks, https://www.standardwebhooks.com, and by no package of it. */

/** The signature of a body, by the bytes of a key. */
export function signatureOf(key: Buffer, id: string, timestamp: string, body: string): string {
  const mac = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return `v1,${mac}`;
}

/** The headers of a body that is signed. */
export function signedHeaders(
  key: Buffer,
  body: string,
  { id = 'msg_1', at = Date.now() }: { id?: string; at?: number } = {},
): Record<string, string> {
  const timestamp = String(Math.floor(at / 1_000));
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': signatureOf(key, id, timestamp, body),
  };
}
