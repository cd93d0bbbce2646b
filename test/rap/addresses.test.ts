import { describe, expect, test } from 'vitest';
import { pick, RemoteWorld } from './remote-world.ts';
import { ToolServer } from './tool-server.ts';
import { pickCases } from '../support/sampling.ts';

/* 90 to 93 of the team's list of attacks: where a tool server would have us send what a person picked. */

describe('90, S0-20: a question whose response_url is not of the tool server is dropped, and nothing is sent:', () => {
  const urls: [what: string, url: (server: ToolServer, canary: ToolServer) => string][] = [
    ['another port', (_server, canary) => canary.responseUrl],
    ['another port, by name', (_server, { port }) => `http://localhost:${port}/x`],
    ['another port, in decimal', (_server, { port }) => `http://2130706433:${port}/x`],
    ['another port, in octal', (_server, { port }) => `http://0177.0.0.1:${port}/x`],
    ['another port, in hex', (_server, { port }) => `http://0x7f.1:${port}/x`],
    ['another port, in circled digits', (_server, { port }) => `http://①②⑦.⓪.⓪.①:${port}/x`],
    ['another port, mapped to IPv6', (_server, { port }) => `http://[::ffff:7f00:1]:${port}/x`],
    ['an address like it', ({ port }) => `http://127.0.0.2:${port}/x`],
    ['no address', ({ port }) => `http://0.0.0.0:${port}/x`],
    ['IPv6 mapped', ({ port }) => `http://[::ffff:127.0.0.1]:${port}/x`],
    ['metadata of a cloud', () => 'http://169.254.169.254/latest/meta-data/'],
    ['a private address', () => 'http://10.0.0.1/'],
    ['another host', () => 'https://example.com/'],
    ['a host that begins alike', ({ port }) => `http://127.0.0.1.example.com:${port}/`],
    ['another scheme', ({ port }) => `https://127.0.0.1:${port}/`],
    ['a file', () => 'file:///etc/passwd'],
    ['data', () => 'data:text/plain,x'],
    ['a script', () => 'javascript:alert(1)'],
    ['a name and password', ({ port }) => `http://user:password@127.0.0.1:${port}/x`],
    [
      'the endpoint as a name',
      ({ port }, canary) => `http://127.0.0.1:${port}@localhost:${canary.port}/`,
    ],
    ['no URL', () => '/user_choice_response'],
    ['the example of the document, unfilled', () => 'http://tool-server:PORT/user_choice_response'],
    ['nothing', () => ''],
  ];
  test.each(pickCases(urls, 3))('%s', async (_what, url) => {
    await using world = await RemoteWorld.start();
    await using canary = await ToolServer.start();
    const { agent } = await world.called();
    const responseUrl = url(world.server, canary);
    expect(await world.server.ask(world.server.last, { response_url: responseUrl })).toBe(200);
    const thread = await agent.thread('t');
    expect(thread.activeRequests).toEqual([]);
    expect(thread.calls).toMatchObject([{ status: 'deferred' }]);
    expect(world.discarded).toEqual([
      { reason: 'response-url', threadId: 't', toolCallId: 'call_abc123', detail: responseUrl },
    ]);
    expect([canary.received, world.server.answers]).toEqual([[], []]);
  });
});

describe('S0-53: a response_url of the tool server itself is taken:', () => {
  test.each(['127.0.0.1', 'localhost', '0x7f000001', '2130706433'])(
    'a local server by the name of %s',
    async (host) => {
      await using world = await RemoteWorld.start();
      const { port } = world.server;
      const { agent, thread } = await world.asked({
        response_url: `http://${host}:${port}/user_choice_response?token=a%2Fb`,
      });
      await agent.run(pick(thread, 1), thread);
      expect(world.server.received.at(-1)?.path).toBe('/user_choice_response?token=a%2Fb');
      expect(world.server.answers).toEqual([{ id: 'call_abc123', selected: 1 }]);
    },
  );

  test('with half a character in it, which no log could keep: it is the URL that it stands for', async () => {
    await using world = await RemoteWorld.start();
    const { agent, thread } = await world.asked({
      response_url: `${world.server.responseUrl}?token=\ud800`,
    });
    await agent.run(pick(thread, 1), thread);
    expect(world.server.received.at(-1)?.path).toBe('/user_choice_response?token=%EF%BF%BD');
  });

  test('and one of an origin that the app lists, which then are all', async () => {
    await using other = await ToolServer.start();
    await using world = await RemoteWorld.start({ tool: { allowedOrigins: [other.origin] } });
    const { agent, thread } = await world.asked({ response_url: other.responseUrl });
    await agent.run(pick(thread, 1), thread);
    expect(other.answers).toEqual([{ id: 'call_abc123', selected: 1 }]);
    await world.server.ask(world.server.last);
    expect(world.discarded).toMatchObject([{ reason: 'response-url' }]);
  });
});

test('90: where answers may go is looked at again before they go', async () => {
  await using world = await RemoteWorld.start();
  await world.asked();
  const tools = world.tools({ allowedOrigins: ['https://tools.example.com'] });
  const agent = world.process({ tools });
  const thread = await agent.thread('t');
  expect(await agent.run(pick(thread, 1), thread)).toMatchObject({ status: 'waiting' });
  expect(world.server.answers).toEqual([]);
  expect(thread.events.at(-2)).toMatchObject({
    type: 'answer-delivered',
    error: expect.stringContaining('response_url'),
  });
});

describe('91: a name is given to fetch as it is allowed, so that the app can pin its addresses:', () => {
  test('fetch is the one that the app gives, for calls and for answers', async () => {
    const hosts: string[] = [];
    await using world = await RemoteWorld.start({
      tool: {
        fetch: async (url, init) => {
          hosts.push(url instanceof URL ? url.hostname : 'none');
          return fetch(url, init);
        },
      },
    });
    const { port } = world.server;
    const { agent, thread } = await world.asked({
      response_url: `http://localhost:${port}/user_choice_response`,
    });
    await agent.run(pick(thread, 1), thread);
    expect(hosts).toEqual(['127.0.0.1', 'localhost']);
  });
});

describe('93: of a response no more is waited for, or read, than its status', () => {
  const endless = (write: (text: string) => unknown): void => {
    write('x'.repeat(65_536));
    setImmediate(() => endless(write));
  };

  test('where it never ends', async () => {
    await using world = await RemoteWorld.start();
    for (const behaviours of [world.server.invokeBehaviours, world.server.answerBehaviours]) {
      behaviours.push((_received, response) => {
        response.on('close', () => response.destroy());
        endless((text) => response.writable && response.write(text));
      });
    }
    const { agent, thread } = await world.asked();
    await agent.run(pick(thread, 1), thread);
    expect(thread.events.at(-2)).toMatchObject({ type: 'answer-delivered' });
    expect(thread.events.at(-2)).not.toHaveProperty('error');
  });

  test('where it never comes: an answer is tried again', async () => {
    await using world = await RemoteWorld.start();
    await world.asked();
    const agent = world.process({ tools: world.tools({ timeoutMs: 100 }) });
    const thread = await agent.thread('t');
    world.server.answerBehaviours.push(() => {});
    await agent.run(pick(thread, 1), thread);
    expect(world.server.answers.length).toBeGreaterThan(1);
    expect(thread.events.at(-2)).not.toHaveProperty('error');
  });
});
