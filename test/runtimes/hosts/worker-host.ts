import { DurableObject } from 'cloudflare:workers';
import { d1Driver, durableObjectDriver, sqliteStoreOn } from 'holdpoint/stores/sqlite-on';
import { ran } from './app.ts';
import { equal, played } from './played.ts';
import { pageRequest, playAll, playOn } from './plays.ts';
import { ThreadObject } from './thread-object.ts';

interface Objects {
  getByName(name: string): { fetch(request: Request | string): Promise<Response> };
}

interface Environment {
  DB: Parameters<typeof d1Driver>[0];
  OBJECTS: Objects;
  WAKING: Objects;
}

/** A Durable Object with threads in its own SQLite. */
export class Threads extends DurableObject {
  async fetch(): Promise<Response> {
    return Response.json(await playOn(sqliteStoreOn(durableObjectDriver(this.ctx.storage))));
  }
}

/** The object of the docs, whose answers are recorded without a run, as by a link in a mail. */
export class Waking extends ThreadObject {
  override async fetch(request: Request): Promise<Response> {
    if (request.method === 'POST') return super.fetch(request);
    const thread = await this.agent.thread('page');
    const answers = thread.activeApprovalRequests.map((each) => each.approve());
    if (answers.length > 0) await this.agent.respond(answers, thread);
    return Response.json({ status: thread.status, ran });
  }
}

async function wakesUp(objects: Objects): Promise<void> {
  const object = objects.getByName('page');
  await (await object.fetch(pageRequest())).text();
  const look = async (): Promise<string> => (await object.fetch('https://object.test')).text();
  equal(JSON.parse(await look()).ran, []);
  for (let polls = 0; polls < 1_000; polls += 1) {
    if ((await look()) === JSON.stringify({ status: 'idle', ran: ['Paris'] })) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`The alarm has not run the thread: ${await look()}`);
}

/* Without Node's modules, which the conformance cases need. */
export default {
  async fetch(_request: Request, { DB, OBJECTS, WAKING }: Environment): Promise<Response> {
    const inObject = await OBJECTS.getByName('plays').fetch('https://object.test');
    return Response.json({
      plays: await playAll(),
      stores: {
        'has no Node compatibility': 'process' in globalThis ? 'process is there' : 'passed',
        D1: await playOn(sqliteStoreOn(d1Driver(DB))),
        'a Durable Object': await inObject.json(),
        ...(await played({ 'an alarm': async () => wakesUp(WAKING) })),
      },
    });
  },
};
