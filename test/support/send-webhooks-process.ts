// sendWebhooks.ts
import { readFile, writeFile } from 'node:fs/promises';
import type { StoredRequest } from 'holdpoint';
import { sqliteStore } from 'holdpoint/stores/sqlite';
import { Webhook } from 'standardwebhooks';

const { WEBHOOK_URL = '', WEBHOOK_SECRET = '' } = process.env;
const webhook = new Webhook(WEBHOOK_SECRET);
const store = sqliteStore('threads.sqlite');
const file = 'webhooks.position';
let after = Number(await readFile(file, 'utf8').catch(() => 0));

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

/** Posts what was opened after the position that was kept last. */
async function postNew() {
  for (;;) {
    const [change] = (await store.requests?.changes({ after, limit: 1 })) ?? [];
    if (change === undefined) return;
    if (change.type === 'opened' && change.request !== undefined) await post(change.request);
    after = change.position;
    await writeFile(file, String(after), { flush: true });
  }
}

let posting = Promise.resolve();
function postSoon() {
  posting = posting.then(postNew).catch(console.error);
}
store.subscribe((notice) => {
  if (notice?.type !== 'claim') postSoon(); // a claim changes no request
});
setInterval(postSoon, 5_000); // what failed, and what no notice came for
postSoon();
