import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import { expectRefusals } from './expect-refusals.ts';
import { PublishedServer } from './published-servers.ts';
import {
  accepted,
  ada,
  attemptsOf,
  blockOf,
  evil,
  json,
  ownRequests,
  signedIn,
  text,
  threadId,
  waitingRequest,
} from './server-routes.ts';

describe.concurrent.each([...signedIn])('%s', (key, routes) => {
  test('as it is pasted: refuses everybody, and listens on 127.0.0.1 alone', async () => {
    await expectRefusals(key);
  });

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

function post(headers: object): RequestInit {
  return { method: 'POST', headers: { ...headers }, body: '{}' };
}

async function statuses(
  server: PublishedServer,
  paths: readonly string[],
  init: RequestInit,
): Promise<number[]> {
  return Promise.all(paths.map(async (path) => server.send(path, init)));
}

describe.concurrent('other servers', () => {
  test('the inbox shows nothing and takes nothing before its sign-in is written', async () => {
    const block = blockOf('docs/channels/inbox.md 1');
    const paths = ['/inbox', '/inbox/api/requests', '/inbox/api/counts', '/inbox/api/changes'];
    const body = JSON.stringify({ viewer: 'ada', answers: [] });
    const answer = (headers: object): RequestInit => ({
      method: 'POST',
      headers: { ...headers },
      body,
    });
    await using pasted = await PublishedServer.start(block);
    expect(await pasted.isOpenElsewhere()).toBe(false);
    const before = await pasted.events();
    expect(await statuses(pasted, paths, { headers: ada })).toEqual([403, 403, 403, 403]);
    expect(await statuses(pasted, paths, { headers: evil })).toEqual([403, 403, 403, 403]);
    const answers = ['/inbox/api/answers'];
    expect(await statuses(pasted, answers, answer({ ...ada, ...text }))).toEqual([415]);
    expect(await statuses(pasted, answers, answer({ ...ada, ...json, ...evil }))).toEqual([403]);
    expect(await statuses(pasted, ['/inbox/page.js', '/inbox/page.css'], {})).toEqual([200, 200]);
    expect(await pasted.events()).toEqual(before);
  });

  test('the routes of a workflow for jobs need a secret, and those for its world no page', async () => {
    const block = blockOf('docs/guides/workflow.md 1');
    const paths = ['/wake?threadId=trip-42', '/sweep'];
    const world = ['/.well-known/workflow/v1/flow', '/.well-known/workflow/v1/step'];
    const withSecret = post({ authorization: 'Bearer s3cret' });

    await using pasted = await PublishedServer.start(block);
    for (const init of [post({}), withSecret, post({ authorization: 'Bearer undefined' })]) {
      expect(await statuses(pasted, paths, init)).toEqual([403, 403]);
    }
    expect(await statuses(pasted, world, post({ ...evil, ...text }))).toEqual([403, 403]);
    expect(await pasted.send('/sweep')).toBe(404);
    expect(pasted.done).toBe('');

    const environment = { CRON_SECRET: 's3cret' };
    await using filled = await PublishedServer.start(block, { environment });
    expect(await statuses(filled, paths, post({ authorization: 'Bearer other' }))).toEqual([
      403, 403,
    ]);
    expect(filled.done).toBe('');
    expect(await statuses(filled, paths, withSecret)).toEqual([200, 200]);
    expect(await statuses(filled, world, post({}))).toEqual([200, 200]);
    expect(filled.done).toBe('start\nflow\nstep\n');
  });

  test('/say of a workflow refuses another text under an id that is taken, and claims no more than to have accepted one', async () => {
    const block = blockOf('docs/guides/workflow.md 1');
    await using server = await PublishedServer.start(block, { isFilled: true });
    const say = async (message: { id: string; text: string }) =>
      server.send('/say', {
        method: 'POST',
        headers: { ...ada, ...json },
        body: JSON.stringify({ threadId, message }),
      });
    expect(await say({ id: 'm0', text: 'Book a hotel.' })).toBe(409);
    expect(server.done).toBe('');
    expect(await say({ id: 'm0', text: 'Book a flight to Paris.' })).toBe(202);
    expect(await say({ id: 'm1', text: 'And a hotel.' })).toBe(202);
    expect(server.done).toBe('start\nstart\n');
  });

  test('the route that tool servers call back knows no stranger', async () => {
    const block = blockOf('docs/guides/remote-tools.md 1');
    await using pasted = await PublishedServer.start(block);
    expect(await pasted.isListening).toBe(false);
    const environment = { SECRET: 's'.repeat(32) };
    await using server = await PublishedServer.start(block, { environment });
    expect(await server.isOpenElsewhere()).toBe(false);
    const before = await server.events();
    const result = { type: 'tool_result', group_id: threadId, id: 'c1', text: 'Done.' };
    const body = JSON.stringify(result);
    for (const path of ['/callback', '/callback?call=abc']) {
      for (const headers of [json, text, { ...json, ...evil }]) {
        expect(await server.send(path, { method: 'POST', headers, body })).toBe(404);
      }
    }
    expect(await server.send('/callback')).toBe(405);
    expect(await server.events()).toEqual(before);
  });

  test.each(['docs/guides/remote-tools.md 2', 'docs/guides/remote-tools.md 3'])(
    'the tool server %s does not start without a secret, and takes no call that is not signed',
    async (key) => {
      const block = blockOf(key);
      await using pasted = await PublishedServer.start(block);
      expect(await pasted.isListening).toBe(false);
      expect(pasted.output).toMatch(/(signing|acme)Secret is not defined/);
      const secret = Buffer.from('s'.repeat(32)).toString('base64');
      await using server = await PublishedServer.start(block, {
        environment: { SIGNING_SECRET: secret },
      });
      expect(await server.isOpenElsewhere()).toBe(false);
      const call = {
        type: 'function_call',
        group_id: threadId,
        id: 'c1',
        function: 'deploy',
        arguments: { service: 'shop' },
        callback_url: 'http://127.0.0.1:9/callback',
      };
      const body = JSON.stringify(call);
      const signed = (by: string) => ({
        'webhook-id': 'm1',
        'webhook-timestamp': String(Math.floor(Date.now() / 1000)),
        'webhook-signature': new Webhook(by).sign('m1', new Date(), body),
      });
      const other = Buffer.from('x'.repeat(32)).toString('base64');
      const invoke = async (headers: object, path = '/deploy') =>
        server.send(path, { ...post(headers), body });
      for (const path of ['/deploy', '/cancel_tool_call', '/close_thread', '/tool_call_status']) {
        expect([path, await invoke(json, path)]).toEqual([path, 401]);
        expect([path, await invoke({ ...json, ...signed(other) }, path)]).toEqual([path, 401]);
        expect([path, await invoke({ ...text, ...evil }, path)]).toEqual([path, 403]);
      }
      expect(server.done).toBe('');
      expect(await invoke({ ...json, ...signed(secret) })).toBe(200);
    },
  );

  test('the service of Restate listens on 127.0.0.1 alone, and speaks with no browser', async () => {
    await using server = await PublishedServer.start(blockOf('docs/guides/restate.md 1'));
    expect(await server.isListening).toBe(true);
    expect(await server.isOpenElsewhere()).toBe(false);
    const before = await server.events();
    const init = { method: 'POST', headers: { ...text, ...evil }, body: '{}' };
    await expect(server.send('/invoke/threads/wake', init)).rejects.toThrow('fetch failed');
    expect(await server.events()).toEqual(before);
  });
});
