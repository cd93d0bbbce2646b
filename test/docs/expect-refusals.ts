import { expect } from 'vitest';
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

/* Bytes that some servers die of. */
const oddBytes = [
  'TRACE / HTTP/1.1\r\nhost: localhost\r\n\r\n',
  'POST / HTTP/1.1\r\nhost: [\r\ncontent-length: 2\r\n\r\n{}',
  'GET // HTTP/1.1\r\nhost: localhost\r\n\r\n',
];

/** Starts a server of the docs as it is pasted: it refuses everybody, and listens on 127.0.0.1 alone. */
export async function expectRefusals(key: string): Promise<void> {
  const routes = signedIn.get(key);
  if (routes === undefined) throw new Error(`The routes of ${key} are not known.`);
  await using server = await PublishedServer.start(blockOf(key));
  expect([server.output, await server.isListening]).toEqual([expect.any(String), true]);
  const [before, requestId] = [await server.events(), await waitingRequest(server)];
  expect(requestId).not.toBe('');
  expect(await server.isOpenElsewhere()).toBe(false);
  const attempts = [...attemptsOf(routes, requestId, ada), ...ownRequests(routes, requestId)];
  expect(await accepted(server, attempts)).toEqual([]);
  for (const bytes of oddBytes) expect(await server.sendBytes(bytes)).toMatch(/^HTTP\/1.1 4/);
  expect([await server.events(), server.done]).toEqual([before, '']);
}
