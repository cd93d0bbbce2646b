import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { freePort } from '../support/free-port.ts';
import type { EngineProcess } from './engine-process.ts';
import { EngineProject, filesIn, stepsFile, textOf } from './engine-project.ts';
import { openWorld } from './engine-world.ts';
import { RestateServer, restateProgram, serverVersion } from './restate-server.ts';
import { approvalIn, messagesIn, peopleIn, soon, threadIn, turnIn } from './watched-threads.ts';
import { waitFor } from '../support/waiting.ts';

const page = 'docs/guides/restate.md';
const principal = 'ada';
const ada = { principal, channel: 'web' };
const program = await restateProgram();
const platform = `${process.platform}-${process.arch}`;

if (program === undefined) console.warn(`Skipped: Restate has no server for ${platform}.`);

describe.skipIf(program === undefined)('docs/guides/restate.md', () => {
  let project: EngineProject;
  let server: RestateServer;
  let world: ReturnType<typeof openWorld>;
  let port: number;
  let service: EngineProcess;
  let call: (
    threadId: string,
    handler: string,
    input?: object,
    options?: { send: boolean },
  ) => Promise<void>;

  const invocations = async (threadId: string, condition = 'true') =>
    server.query(
      `select created_at, status from sys_invocation where target_service_key = '${threadId}' and ${condition}`,
    );
  const stranger = async (handler: string, input: object, authorization?: string) => {
    const { status } = await fetch(`${server.ingress}/threads/open/${handler}`, {
      method: 'POST',
      body: JSON.stringify(input),
      headers: { 'content-type': 'application/json', ...(authorization && { authorization }) },
    });
    return status;
  };
  const serve = async (): Promise<void> => {
    const environment = { PORT: String(port), INGRESS_SECRET: 's3cret' };
    service = await project.start(process.execPath, ['serve.ts'], {
      ready: /listening/,
      environment,
    });
  };

  beforeAll(async () => {
    project = new EngineProject([...stepsFile, ...filesIn(page)]);
    world = openWorld(project.folder);
    server = await RestateServer.start(program ?? '');
    vi.stubEnv('RESTATE_INGRESS', server.ingress);
    vi.stubEnv('INGRESS_SECRET', 's3cret');
    ({ call } = await import(join(project.folder, 'ingress.ts')));
    port = await freePort();
    await serve();
    await server.register(port);
  }, 120_000);

  afterEach(() => {
    for (const name of ['bookings', 'hang', 'down']) project.remove(name);
  });

  afterAll(async () => {
    await project[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
    world.store[Symbol.dispose]();
    vi.unstubAllEnvs();
  });

  test('its files have no type errors', () => {
    expect(project.typeErrors()).toBe('');
  });

  test('the page names the versions that it was tested with', () => {
    const { devDependencies } = JSON.parse(textOf('package.json'));
    const { '@restatedev/restate-sdk': sdk } = devDependencies;
    expect(textOf(page)).toContain(
      `\`@restatedev/restate-sdk\` ${sdk} and the server ${serverVersion}`,
    );
  });

  test('a message that is sent twice is one turn', async () => {
    await call('twice', 'say', { id: 'm1', text: 'Rome', ...ada }, { send: false });
    await call('twice', 'say', { id: 'm1', text: 'Rome', ...ada }, { send: false });
    const answer = approvalIn(await threadIn(world.agent, 'twice', 'waiting'));
    await call('twice', 'answer', { answer, principal }, { send: false });
    await call('twice', 'say', { id: 'm1', text: 'Rome', ...ada }, { send: false });
    const thread = await turnIn(world.agent, 'twice', 1);
    expect(messagesIn(thread)).toBe(1);
    expect(project.bookings).toEqual(['Rome']);
  });

  test('a message keeps its sender: Ada can’t approve her own booking, Ben can', async () => {
    await call('shared', 'say', { id: 'm1', text: 'Sofia', ...ada }, { send: false });
    const answer = approvalIn(await threadIn(world.agent, 'shared', 'waiting'));
    await expect(
      call('shared', 'answer', { answer, principal: 'Ada' }, { send: false }),
    ).rejects.toThrow(/409/);
    await call('shared', 'answer', { answer, principal: 'ben' }, { send: false });
    expect(peopleIn(await turnIn(world.agent, 'shared', 1))).toEqual([
      ['message-added', 'ada', 'web'],
      ['request-answered', 'ben', undefined],
    ]);
  });

  test('a stranger at the ingress neither answers for Ben nor writes for Ada, and a wake-up does nothing', async () => {
    await call('open', 'say', { id: 'm1', text: 'Oslo', ...ada }, { send: false });
    const thread = await threadIn(world.agent, 'open', 'waiting');
    const answer = { answer: approvalIn(thread), principal: 'ben' };
    const message = { id: 'm2', text: 'I resign.', ...ada };
    for (const authorization of [undefined, 'Bearer undefined', 'Bearer other']) {
      expect(await stranger('answer', answer, authorization)).toBe(403);
      expect(await stranger('say', message, authorization)).toBe(403);
    }
    await call('open', 'wake', undefined, { send: false });
    expect((await world.agent.thread('open')).revision).toBe(thread.revision);
    await call('open', 'answer', answer, { send: false });
    expect(peopleIn(await turnIn(world.agent, 'open', 1))).toEqual([
      ['message-added', 'ada', 'web'],
      ['request-answered', 'ben', undefined],
    ]);
  });

  test('an answer that holdpoint refuses is an error of the caller, and is not repeated', async () => {
    await call('refused', 'say', { id: 'm1', text: 'Rome', ...ada }, { send: false });
    const answer = approvalIn(await threadIn(world.agent, 'refused', 'waiting'));
    await call('refused', 'answer', { answer, principal }, { send: false });
    const rejected = { ...answer, approved: false };
    await expect(
      call('refused', 'answer', { answer: rejected, principal: 'bob' }, { send: false }),
    ).rejects.toThrow(/409.*already has a different answer/);
    expect(project.bookings).toEqual(['Rome']);
  });

  test('an answer that came while the service was down starts the call once, also when the service is killed in it', async () => {
    await call('killed', 'say', { id: 'm1', text: 'Paris', ...ada });
    const waiting = await threadIn(world.agent, 'killed', 'waiting');
    await service.kill();
    await call('killed', 'answer', { answer: approvalIn(waiting), principal });
    project.write('hang');
    await serve();
    await waitFor(() => expect(project.bookings).toEqual(['Paris']), soon);
    await service.kill();
    project.remove('hang');
    await serve();
    const lost = await threadIn(world.agent, 'killed', 'indeterminate');
    expect(project.bookings).toEqual(['Paris']);

    await world.agent.settle(lost, 'c1-0', { status: 'succeeded', output: { booked: 'Paris' } });
    await call('killed', 'wake');
    await turnIn(world.agent, 'killed', 1);
    expect(project.bookings).toEqual(['Paris']);
  });

  test('nobody is woken for a lost call, nor for a request that expired meanwhile', async () => {
    await call('lost', 'say', { id: 'm1', text: 'Oslo, Paris', ...ada });
    const waiting = await threadIn(world.agent, 'lost', 'waiting');
    project.write('hang');
    await call('lost', 'answer', { answer: approvalIn(waiting, 'Paris'), principal });
    await waitFor(() => expect(project.bookings).toEqual(['Paris']), soon);
    await service.kill();
    project.remove('hang');
    await serve();
    const lost = await threadIn(world.agent, 'lost', 'indeterminate');
    await world.agent.settle(lost, 'c1-1', { status: 'failed', error: 'Not booked.' });
    await call('lost', 'wake');
    await turnIn(world.agent, 'lost', 1);
    await waitFor(
      async () => expect(await invocations('lost', "status <> 'completed'")).toEqual([]),
      soon,
    );
    expect((await invocations('lost')).length).toBeLessThan(10);
  });

  test('a request that nobody answers is ended by the timer', async () => {
    await call('oslo', 'say', { id: 'm1', text: 'Oslo', ...ada });
    const { calls } = await turnIn(world.agent, 'oslo', 1);
    expect(calls.map(({ status }) => status)).toEqual(['denied']);
    expect(project.bookings).toEqual([]);
  });

  test('only the newest timer counts', async () => {
    await call('timers', 'say', { id: 'm1', text: 'Oslo, Narvik', ...ada });
    await threadIn(world.agent, 'timers', 'waiting');
    for (let time = 0; time < 3; time += 1)
      await call('timers', 'wake', undefined, { send: false });
    await turnIn(world.agent, 'timers', 1);
    await waitFor(async () => {
      expect(await invocations('timers', "status <> 'completed'")).toEqual([]);
    }, soon);
    /* The message, three wake-ups, a timer of each, and one for Narvik. If all four counted, it would be four for Narvik too. */
    expect((await invocations('timers')).length).toBeLessThan(12);
  });

  test('a turn that fails is repeated at the time that the log says, and is one turn', async () => {
    project.write('down');
    await call('down', 'say', { id: 'm1', text: 'Bern', ...ada }, { send: false });
    expect((await world.agent.thread('down')).failure?.failures).toBeGreaterThan(0);
    project.remove('down');
    const thread = await threadIn(world.agent, 'down', 'waiting');
    expect(messagesIn(thread)).toBe(1);
  });

  test('an answer whose wake-up was lost is found by the sweep', async () => {
    await call('swept', 'say', { id: 'm1', text: 'Kyiv', ...ada });
    const waiting = await threadIn(world.agent, 'swept', 'waiting');
    await world.agent.respond(approvalIn(waiting), waiting);
    await (
      await project.start(process.execPath, ['sweep.ts'])
    ).end;
    await turnIn(world.agent, 'swept', 1);
    expect(project.bookings).toEqual(['Kyiv']);
  });

  test('a deadline that stays in the past wakes the thread once a second', async () => {
    const agentFile = project.read('agent.ts');
    await service.kill();
    project.write('agent.ts', agentThatIsAlwaysDue);
    await serve();
    await call('past', 'wake');
    const wakes = await waitFor(async () => {
      const found = await invocations('past', "status = 'completed'");
      expect(found.length).toBeGreaterThan(3);
      return found
        .map(({ created_at: at }) => Date.parse(String(at)))
        .toSorted((one, other) => one - other);
    }, soon);
    /* The second is made by the first, and the fourth by the third. */
    expect((wakes[3] ?? 0) - (wakes[0] ?? 0)).toBeGreaterThan(1_900);
    project.write('agent.ts', agentFile);
  });
});

const agentThatIsAlwaysDue = `
import { openWorld } from './engine-world.ts';

const { store } = openWorld(process.env['WORLD'] ?? '.');
const thread = { status: 'waiting', nextDeadline: 1, messages: [] };
const agent = { thread: async () => thread, run: async () => {}, now: Date.now };
export { agent, store };
`;
