import { queryObjects } from 'node:v8';
import { expect, test } from 'vitest';
import { RemoteWorld } from './remote-world.ts';

/** How many promises there are, after all garbage is collected. */
const promises = (): number => queryObjects(Promise, { format: 'count' });

test('of calls that nobody says anything of any more nothing is kept', async () => {
  const ids = Array.from({ length: 400 }, (_, index) => `call-${index}`);
  await using world = await RemoteWorld.start({
    script: [{ calls: ids.map((id) => ({ id, name: 'write', input: { path: id } })) }],
  });
  await world.called();
  const { handler } = world.site;
  const before = promises();
  for (const { callback_url } of world.server.invocations) {
    const headers = { 'content-type': 'application/json' };
    await handler?.(new Request(callback_url, { method: 'POST', headers, body: '{}' }));
  }
  expect(promises() - before).toBeLessThan(200);
});
