import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..');

test.each([
  ['docs/guides/your-own-store.md', 'a port', 'test/support/redis-port.ts'],
  ['docs/stores.md', 'a driver', 'test/support/node-driver.ts'],
  ['docs/guides/webhooks.md', 'a program', 'test/support/send-webhooks-process.ts'],
  ['docs/guides/webhooks.md', 'its receiver', 'test/support/webhook-receiver.ts'],
  ['docs/runtimes.md', 'a Durable Object', 'test/runtimes/hosts/thread-object.ts'],
])('%s shows %s as it is tested', (page, _, file) => {
  const source = readFileSync(join(root, file), 'utf8');
  expect(readFileSync(join(root, page), 'utf8')).toContain(source);
});
