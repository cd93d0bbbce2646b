import { describe, expect, test } from 'vitest';
import { PublishedServer } from './published-servers.ts';
import {
  accepted,
  ada,
  attemptsOf,
  blockOf,
  ownRequests,
  signedIn,
  waitingRequest,
} from './server-routes.ts';

describe.concurrent.each([...signedIn])('%s', (key, routes) => {
  test('with a sign-in: lets the owner through, and nobody else', async () => {
    await using server = await PublishedServer.start(blockOf(key), { isFilled: true });
    const [before, requestId] = [await server.events(), await waitingRequest(server)];
    expect(await accepted(server, attemptsOf(routes, requestId, ada))).toEqual([]);
    expect([await server.events(), server.done]).toEqual([before, '']);
    const [first] = ownRequests(routes, requestId);
    expect(await server.send(first?.path ?? '', first?.init)).toBe(200);
    if (routes.effect === undefined) return;
    const answered = (await server.events()).filter(({ type }) => type === 'request-answered');
    expect(answered).toEqual([expect.objectContaining({ principal: 'ada@example.com' })]);
  });
});
