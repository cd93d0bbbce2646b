import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { cachedPackage } from '../support/cached-package.ts';
import { freePort } from '../support/free-port.ts';
import { fillSignIn } from '../support/sign-in.ts';
import type { EngineProcess } from './engine-process.ts';
import { EngineProject, filesIn, type ShownFile, stepsFile, textOf } from './engine-project.ts';
import { openWorld } from './engine-world.ts';
import { approvalIn, messagesIn, peopleIn, soon, threadIn, turnIn } from './watched-threads.ts';
import { waitFor } from '../support/waiting.ts';

const page = 'docs/guides/workflow.md';
const version = '4.8.9';
const second = { id: 'm2', text: 'Bern' };
const cronSecret = 's3cret';

/** The files of the page, with a sign-in in the place that it leaves open. */
function filesWithSignIn(): ShownFile[] {
  const files = fillSignIn(
    new Map(filesIn(page).map(({ name, code }) => [name, code])),
    (request) =>
      `return { email: ${request}.headers.get('x-name') ?? '', threads: { includes: () => true } as never };`,
  );
  return [...files].map(([name, code]) => ({ name, code }));
}

describe('docs/guides/workflow.md', () => {
  let project: EngineProject;
  let world: ReturnType<typeof openWorld>;
  let port: number;
  let server: EngineProcess;

  const serve = async (environment: Record<string, string> = {}): Promise<void> => {
    server = await project.start(process.execPath, ['serve.ts'], {
      ready: /Listening/,
      environment: {
        PORT: String(port),
        CRON_SECRET: cronSecret,
        WORKFLOW_TARGET_WORLD: 'local',
        ...environment,
      },
    });
  };
  const post = async (path: string, body: object, user = 'ada'): Promise<number> => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-name': user,
        authorization: `Bearer ${cronSecret}`,
      },
      body: JSON.stringify(body),
    });
    return response.status;
  };
  const answer = async (threadId: string, city?: string, user?: string): Promise<number> => {
    const thread = await threadIn(world.agent, threadId, 'waiting');
    return post('/answer', { threadId, answer: approvalIn(thread, city) }, user);
  };

  beforeAll(async () => {
    const files = [...stepsFile, ...filesWithSignIn()];
    project = new EngineProject(files, await cachedPackage({ workflow: version }));
    const build = ['node_modules/workflow/bin/run.js', 'build', '-t', 'standalone'];
    project.run(process.execPath, ...build);
    project.write('.well-known/package.json', '{ "type": "commonjs" }');
    world = openWorld(project.folder);
    port = await freePort();
    await serve();
  }, 300_000);

  afterEach(() => {
    for (const name of ['bookings', 'hang', 'down']) project.remove(name);
  });

  afterAll(async () => {
    await project[Symbol.asyncDispose]();
    world.store[Symbol.dispose]();
  });

  test('its files have no type errors', () => {
    expect(project.typeErrors()).toBe('');
  });

  test('the page names the version that it was tested with', () => {
    expect(textOf(page)).toContain(`\`workflow\` ${version}`);
  });

  test('a message that is sent twice is one turn', async () => {
    const say = { threadId: 'twice', message: { id: 'm1', text: 'Rome' } };
    await post('/say', say);
    await threadIn(world.agent, 'twice', 'waiting');
    await post('/say', say);
    await answer('twice');
    await turnIn(world.agent, 'twice', 1);
    await post('/say', say);
    expect(messagesIn(await turnIn(world.agent, 'twice', 1))).toBe(1);
    expect(project.bookings).toEqual(['Rome']);
  });

  test('a message keeps its sender: Ada can’t approve her own booking, Ben can', async () => {
    const message = { id: 'm1', text: 'Sofia', principal: 'ben' };
    await post('/say', { threadId: 'shared', message, principal: 'ben' });
    expect(await answer('shared', undefined, 'Ada')).toBe(403);
    expect(await answer('shared', undefined, 'ben')).toBe(200);
    expect(peopleIn(await turnIn(world.agent, 'shared', 1))).toEqual([
      ['message-added', 'ada', 'web'],
      ['request-answered', 'ben', 'web'],
    ]);
  });

  test('no answer is lost to a turn that is just ending', async () => {
    const threadIds = Array.from({ length: 6 }, (_, index) => `busy-${index}`);
    await Promise.all(
      threadIds.map(async (threadId) => {
        const say = { threadId, message: { id: 'm1', text: 'Rome' } };
        await post('/say', say);
        await answer(threadId);
        await turnIn(world.agent, threadId, 1);
        /* The run of the repeated message ends at once; the other one waits for an answer. */
        await Promise.all([post('/say', say), post('/say', { ...say, message: second })]);
        await answer(threadId);
        await turnIn(world.agent, threadId, 2);
      }),
    );
    expect(project.bookings).toHaveLength(2 * threadIds.length);
  });

  test('three processes, one of which is killed in the tool, start the call once', async () => {
    await post('/say', { threadId: 'killed', message: { id: 'm1', text: 'Paris' } });
    await threadIn(world.agent, 'killed', 'waiting');
    await server.kill();
    project.write('hang');
    await serve();
    await answer('killed');
    await waitFor(() => expect(project.bookings).toEqual(['Paris']), soon);
    await server.kill();
    project.remove('hang');
    await serve();
    const lost = await threadIn(world.agent, 'killed', 'indeterminate');
    expect(project.bookings).toEqual(['Paris']);

    await world.agent.settle(lost, 'c1-0', { status: 'succeeded', output: { booked: 'Paris' } });
    await post('/wake?threadId=killed', {});
    await turnIn(world.agent, 'killed', 1);
    expect(project.bookings).toEqual(['Paris']);
  });

  test('a request that nobody answers is ended by the timer', async () => {
    await post('/say', { threadId: 'oslo', message: { id: 'm1', text: 'Oslo' } });
    const { calls } = await turnIn(world.agent, 'oslo', 1);
    expect(calls.map(({ status }) => status)).toEqual(['denied']);
    expect(project.bookings).toEqual([]);
  });

  test('a turn that fails is repeated at the time that the log says, and is one turn', async () => {
    project.write('down');
    await post('/say', { threadId: 'down', message: { id: 'm1', text: 'Bern' } });
    await waitFor(async () => {
      expect((await world.agent.thread('down')).failure?.failures).toBeGreaterThan(0);
    }, soon);
    project.remove('down');
    const thread = await threadIn(world.agent, 'down', 'waiting');
    expect(messagesIn(thread)).toBe(1);
  });

  test('an answer whose wake-up was lost is found by the sweep', async () => {
    await post('/say', { threadId: 'swept', message: { id: 'm1', text: 'Kyiv' } });
    const waiting = await threadIn(world.agent, 'swept', 'waiting');
    await world.agent.respond(approvalIn(waiting), waiting);
    await post('/sweep', {});
    await turnIn(world.agent, 'swept', 1);
    expect(project.bookings).toEqual(['Kyiv']);
  });

  test('a thread whose deployment is gone goes on in the next one, with its timers', async () => {
    await post('/say', { threadId: 'moved', message: { id: 'm1', text: 'Riga, Narvik' } });
    await threadIn(world.agent, 'moved', 'waiting');
    await server.kill();
    /* The hook is still there, but nobody can wake its run. */
    project.remove('.workflow-data/runs');
    await serve({ VERCEL_DEPLOYMENT_ID: 'dpl_2' });
    expect(await answer('moved', 'Riga')).toBe(200);
    const { calls } = await turnIn(world.agent, 'moved', 1);
    expect(calls.map(({ status }) => status)).toEqual(['succeeded', 'denied']);
    expect(project.bookings).toEqual(['Riga']);
  });
});
