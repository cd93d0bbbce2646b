// sendWebhooks.ts
import type { StoredRequest } from 'holdpoint';
import { sqliteStore } from 'holdpoint/stores/sqlite';
import { Webhook } from 'standardwebhooks';

const { WEBHOOK_URL = '', WEBHOOK_SECRET = '' } = process.env;
const webhook = new Webhook(WEBHOOK_SECRET);
const store = sqliteStore('threads.sqlite');
const consumer = 'webhook';

/** Posts one request. Its id is the message id, by which the receiver knows a repeated delivery. */
async function post({ requestId, threadId, kind, toolName, createdAt }: StoredRequest) {
  const timestamp = new Date();
  const body = JSON.stringify({
    type: 'request.opened',
    data: { requestId, threadId, kind, toolName, createdAt },
  });
  const headers = {
    'content-type': 'application/json',
    'webhook-id': requestId,
    'webhook-timestamp': String(Math.floor(timestamp.getTime() / 1000)),
    'webhook-signature': webhook.sign(requestId, timestamp, body),
  };
  const signal = AbortSignal.timeout(10_000);
  const { status } = await fetch(WEBHOOK_URL, { method: 'POST', headers, body, signal });
  if (status >= 300) throw new Error(`The webhook of ${requestId} was answered with ${status}.`);
}

/** Posts what was opened since the last acknowledgement, unless another process is about it. */
async function postNew() {
  for (;;) {
    const taken = await store.requests?.take({ consumer, leaseMs: 30_000, limit: 1 });
    if (taken === undefined) return;
    for (const { type, request } of taken.changes)
      if (type === 'opened' && request !== undefined) await post(request);
    await store.requests?.acknowledge({ consumer, token: taken.token });
  }
}

let posting = Promise.resolve();
function postSoon() {
  posting = posting.then(postNew).catch(console.error);
}
store.subscribe(postSoon);
setInterval(postSoon, 5_000); // what failed, and what another process left
postSoon();
