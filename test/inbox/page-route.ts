import type { InboxEntry, InboxOutcome } from '../../src/apps/inbox/inbox-api.ts';
import { Inbox } from '../../src/apps/inbox/page/inbox.ts';
import { InboxClient } from '../../src/apps/inbox/page/inbox-client.ts';
import { decide } from './page-entries.ts';

type Posted = Record<string, unknown> & { requestId: string; digest: string };

/** A route with these entries, without an agent: what the page does alone can be tested with it. */
export class FakeRoute {
  entries: readonly InboxEntry[];
  /** What was posted, in order. */
  readonly posted: Posted[] = [];
  now = 10_000;
  /** How far the server's clock is ahead of the page's. */
  ahead = 0;
  /** Changes an outcome before it is sent. */
  amend: (outcome: InboxOutcome) => InboxOutcome = (outcome) => outcome;
  /** An entry as lists have it. */
  listed: (entry: InboxEntry) => InboxEntry = (entry) => entry;
  /** What is answered instead of anything else. */
  instead: ((init: RequestInit) => Response) | undefined;
  /** Resolves before a POST is answered. */
  hold: Promise<unknown> = Promise.resolve();

  constructor(...entries: InboxEntry[]) {
    this.entries = entries;
  }

  /** The page, with its list read. */
  async open(): Promise<Inbox> {
    const client = new InboxClient({
      api: 'http://inbox/api/',
      fetch: async (url, init) => this.#respond(new URL(url), init),
      now: () => this.now,
      onOtherViewer: () => {
        throw new Error('Another viewer.');
      },
    });
    const inbox = new Inbox(client, () => this.now);
    await inbox.refresh();
    inbox.setFrozen(true);
    return inbox;
  }

  replace(entry: InboxEntry): void {
    this.entries = this.entries.map((each) => (each.requestId === entry.requestId ? entry : each));
  }

  async #respond({ pathname }: URL, init: RequestInit = {}): Promise<Response> {
    if (this.instead !== undefined) return this.instead(init);
    const read = { viewer: 'Cy', at: this.now + this.ahead };
    const open = this.entries.filter(({ state }) => state === 'open');
    const count = { count: open.length, hasMore: false };
    if (init.method === 'POST')
      return this.#post(JSON.parse(typeof init.body === 'string' ? init.body : ''));
    if (pathname.endsWith('/counts'))
      return Response.json({ mine: count, all: count, unsettled: count, ...read });
    if (pathname.endsWith('/requests')) {
      return Response.json({ entries: open.map(this.listed), position: 0, ...read });
    }
    const entry = this.entries.find(({ requestId }) => pathname.endsWith(`/${requestId}`));
    const error = { code: 'not-found', message: 'There is no such request.' };
    if (entry === undefined) return Response.json({ error }, { status: 404 });
    return Response.json({ entry, earlier: [], ...read });
  }

  async #post(body: { answers?: Posted[] } & Posted): Promise<Response> {
    await this.hold;
    const posted = body.answers ?? [body];
    this.posted.push(...posted);
    const outcomes = posted.map((each) => this.amend(this.#record(each)));
    return Response.json(body.answers === undefined ? outcomes[0] : { outcomes });
  }

  #record({ requestId, digest, action }: Posted): InboxOutcome {
    const entry = this.entries.find((each) => each.requestId === requestId);
    const isOver = entry?.state !== 'open' && action === undefined;
    if (entry === undefined || isOver || entry.digest !== digest) {
      const error = { code: 'already-answered', message: 'Bo has answered it.' };
      return { status: 'refused', requestId, error, ...(entry && { entry }) };
    }
    const decided = decide(entry, 'approved', 'Cy');
    this.replace(decided);
    return { status: 'recorded', requestId, entry: decided };
  }
}
