import { expect, test } from 'vitest';
import { inboxOutcomesSchema, inboxPageSchema } from '../../src/apps/inbox/inbox-api.ts';
import { freePort } from '../support/free-port.ts';
import { GateClient, GateFolder } from './gate-driver.ts';

/** The page of a gate in a browser that has opened a link. */
class Visitor {
  readonly #page: URL;
  readonly #cookie: string;

  constructor(page: URL, cookie: string) {
    this.#page = page;
    this.#cookie = cookie;
  }

  static async open(folder: GateFolder, ...args: string[]): Promise<Visitor> {
    const { output } = await folder.run('gate', '--page', ...args);
    const url = new URL(output.trim());
    const { headers } = await fetch(url, { redirect: 'manual' });
    return new Visitor(url, headers.get('set-cookie')?.split(';')[0] ?? '');
  }

  async #send(path: string, body?: object): Promise<unknown> {
    const { origin, pathname } = this.#page;
    const response = await fetch(`${origin}${pathname}/api/${path}`, {
      headers: { cookie: this.#cookie, origin, 'content-type': 'application/json' },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    });
    return response.json();
  }

  /** What the page lists of calls. */
  async list(list = 'all') {
    const { entries, viewer } = inboxPageSchema.parse(await this.#send(`requests?list=${list}`));
    return { viewer, calls: entries.filter(({ agent }) => agent === 'gate') };
  }

  /** Approves the only call that waits. */
  async approve() {
    const { viewer, calls } = await this.list();
    const [entry] = calls;
    if (entry?.request?.type !== 'approval-request') throw new Error('Nothing waits.');
    const { requestId, threadId, digest, request } = entry;
    const answer = {
      type: 'approval-response',
      requestId,
      approved: true,
      digest: request.digest,
    };
    const answers = [{ requestId, threadId, digest, answer }];
    return inboxOutcomesSchema.parse(await this.#send('answers', { viewer, answers })).outcomes;
  }

  /** Has the only decided call run though no client waits. */
  async runNow(): Promise<unknown> {
    const { viewer, calls } = await this.list('decided');
    const [entry] = calls;
    if (entry === undefined) throw new Error('Nothing was decided.');
    const { requestId, threadId, digest } = entry;
    return this.#send('actions', {
      viewer,
      requestId,
      threadId,
      digest,
      action: { type: 'run' },
    });
  }
}

test('a call is answered on the page that a gate in front of another server serves, and runs behind its own', async () => {
  using folder = new GateFolder();
  using other = new GateFolder();
  const port = ['--port', String(await freePort())];
  await using first = await GateClient.start(folder, ...port, '--', ...other.bank);
  await using second = await GateClient.start(folder, ...port, '--', ...folder.bank);
  await first.client.listTools();
  const paying = second.call('pay', { euros: 5 });
  await expect.poll(async () => folder.list(), { timeout: 10_000 }).toHaveLength(1);
  const visitor = await Visitor.open(folder, ...port, '--', ...folder.bank);
  expect(await visitor.approve()).toMatchObject([{ status: 'recorded' }]);
  expect(await paying).toBe('Paid.');
  expect([folder.countPayments(), other.countPayments()]).toEqual([1, 0]);
});

test('an approved call that nobody waits for is run from the page by its own gate alone', async () => {
  using folder = new GateFolder();
  using other = new GateFolder();
  const port = ['--port', String(await freePort())];
  const args = [...port, '--', ...folder.bank];
  {
    await using left = await GateClient.start(folder, ...args);
    left.call('pay', { euros: 5 }).catch(() => {});
    await expect.poll(async () => folder.list(), { timeout: 10_000 }).toHaveLength(1);
  }
  {
    await using strange = await GateClient.start(folder, ...port, '--', ...other.bank);
    await strange.client.listTools();
    const visitor = await Visitor.open(folder, ...args);
    expect(await visitor.approve()).toMatchObject([{ status: 'recorded' }]);
    expect(await visitor.runNow()).toMatchObject({ error: { code: 'not-allowed' } });
  }
  await using own = await GateClient.start(folder, ...args);
  await own.client.listTools();
  const visitor = await Visitor.open(folder, ...args);
  await visitor.runNow();
  await expect.poll(() => folder.countPayments(), { timeout: 10_000 }).toBe(1);
  expect(other.countPayments()).toBe(0);
});
