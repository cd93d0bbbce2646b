import { expect, test } from 'vitest';
import { pick, RemoteWorld } from './remote-world.ts';
import { signatureOf, signedHeaders } from './standard-webhooks.ts';
import { post, type Received, status } from './tool-server.ts';

const key = Buffer.from('a key that both sides have, 32 b');
const signing = { secret: `whsec_${key.toString('base64')}` };

function expectSigned({ headers, text }: Received, by = key): string {
  const id = String(headers['webhook-id']);
  const timestamp = String(headers['webhook-timestamp']);
  expect(headers['webhook-signature']).toBe(signatureOf(by, id, timestamp, text));
  expect(Math.abs(Number(timestamp) - Date.now() / 1_000)).toBeLessThan(60);
  return id;
}

/** Sends a message signed, unless the headers are said otherwise. */
async function sendSigned(url: string, body: string, headers: Record<string, string> = {}) {
  return post(url, body, { ...signedHeaders(key, body), ...headers });
}

const result = JSON.stringify({
  type: 'tool_result',
  group_id: 't',
  id: 'call_abc123',
  text: 'Written.',
});

test('Z0-8: calls, and answers with each further try, are signed over what is sent', async () => {
  await using world = await RemoteWorld.start({ tool: { signing } });
  const { agent } = await world.called();
  const { last, responseUrl } = world.server;
  const choice = { prompt: 'Sure?', choices: ['Yes', 'No'], default: 1, response_url: responseUrl };
  const { group_id, id } = last;
  const question = JSON.stringify({ type: 'user_choice', group_id, id, ...choice });
  expect(await sendSigned(last.callback_url, question)).toBe(200);
  world.server.answerBehaviours.push(status(500));
  const thread = await agent.thread('t');
  await agent.run(pick(thread, 0), thread);
  const ids = world.server.received.map((received) => expectSigned(received));
  expect(ids).toHaveLength(3);
  expect(ids[1]).toBe(ids[2]);
  expect(new Set(ids).size).toBe(2);
});

test('Z0-8: a callback that is signed is taken', async () => {
  await using world = await RemoteWorld.start({ tool: { signing } });
  const { agent } = await world.called();
  expect(await sendSigned(world.server.last.callback_url, result)).toBe(200);
  expect((await agent.thread('t')).calls).toMatchObject([{ status: 'succeeded' }]);
});

const now = Math.floor(Date.now() / 1_000);
const foreign = Buffer.from('a key that one side has, 32 byte');
test.each([
  ['without a signature', { 'webhook-signature': '' }],
  ['with half a signature', { 'webhook-signature': 'v1' }],
  [
    'signed by another',
    { 'webhook-signature': signatureOf(foreign, 'msg_1', String(now), result) },
  ],
  ['of another version', { 'webhook-signature': 'v2,AAAA' }],
  ['with another id', { 'webhook-id': 'msg_2' }],
  [
    'of six minutes ago',
    {
      'webhook-timestamp': String(now - 360),
      'webhook-signature': signatureOf(key, 'msg_1', String(now - 360), result),
    },
  ],
  ['at no time', { 'webhook-timestamp': 'now' }],
])('94: a callback %s is refused, and nothing is read', async (_what, headers) => {
  await using world = await RemoteWorld.start({ tool: { signing } });
  const { agent } = await world.called();
  expect(await sendSigned(world.server.last.callback_url, result, headers)).toBe(401);
  expect(world.discarded).toMatchObject([{ reason: 'signature' }]);
  expect((await agent.thread('t')).calls).toMatchObject([{ status: 'deferred' }]);
});

test('94: the signature is checked before the message: nothing that a forger wrote is read', async () => {
  await using world = await RemoteWorld.start({ tool: { signing } });
  await world.called();
  expect(await post(world.server.last.callback_url, '{')).toBe(401);
});

test('13: an old secret is known while it is kept, and the first signs', async () => {
  const secret = [`whsec_${foreign.toString('base64')}`, signing.secret];
  await using world = await RemoteWorld.start({ tool: { signing: { secret } } });
  await world.called();
  for (const received of world.server.received) expectSigned(received, foreign);
  expect(await sendSigned(world.server.last.callback_url, result)).toBe(200);
});
