import { encode } from 'eventsource-encoder';
import { subscribeIfPossible } from '../../agent/watch-thread.ts';
import { waitForTimer, WakeUp } from '../../content/waiting.ts';
import { HoldpointError } from '../../errors.ts';
import type { FeedChange, StoredRequest } from '../../thread/thread-store-requests.ts';
import type { RequestIds } from './claims.ts';
import type { InboxChange } from './inbox-api.ts';
import { seeInboxRows } from './inbox-agents.ts';
import {
  authorizeUser,
  type InboxContext,
  type InboxUser,
  maySeeRequest,
} from './inbox-context.ts';

/* Whoever is further behind than this reads the lists again. */
const mostChanges = 200;

/* Between polls of a silent feed, in milliseconds, where the store has notices: they can fail. */
const longestMs = 1_500;

/* How soon a browser that was cut off comes again, in milliseconds. */
const retryMs = 2_000;

/** Where a client wants to go on. Throws `invalid-input` for what is no position. */
function parsePosition({ headers, url }: Request): number | undefined {
  const given = headers.get('last-event-id') ?? new URL(url).searchParams.get('after');
  if (given === null || given === '') return undefined;
  const position = Number(given);
  if (/^\d{1,15}$/.test(given)) return position;
  throw new HoldpointError('invalid-input', 'after must be a position of the feed of changes.');
}

/**
 * The changes of requests that a person may see, as server-sent events. It reads the feed from the client's own position when the client reads, so that
 * nothing is kept for a slow one. The app is asked again who it is before anything is said: the stream ends with the sign-in.
 */
export function makeChangeResponse(
  inbox: InboxContext,
  user: InboxUser,
  request: Request,
): Response {
  const ended = new AbortController();
  const end = (): void => ended.abort();
  if (request.signal.aborted) end();
  else request.signal.addEventListener('abort', end, { once: true });
  const from = parsePosition(request);
  const parts = streamChanges(inbox, user, { request, from, signal: ended.signal });
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await parts.next();
          if (done !== true) return controller.enqueue(encoder.encode(value));
          end();
          controller.close();
        } catch (error) {
          end();
          controller.error(error);
        }
      },
      async cancel() {
        end();
        await parts.return(undefined);
      },
    },
    { highWaterMark: 0 },
  );
  const headers = {
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  };
  return new Response(body, { headers });
}

/** A client that follows the changes. */
interface Follower {
  request: Request;
  /** From which position it goes on; absent: from now on. */
  from: number | undefined;
  signal: AbortSignal;
}

async function* streamChanges(
  inbox: InboxContext,
  user: InboxUser,
  { request, from, signal }: Follower,
): AsyncGenerator<string, void> {
  const { options, agents, feed, claims } = inbox;
  const { host, store } = agents;
  const { keepAliveMs = 15_000, pollMs = 500 } = options;
  const mostMs = store.subscribe === undefined ? pollMs : Math.max(pollMs, longestMs);
  const wakeUp = new WakeUp();
  const wake = (): void => wakeUp.wake();
  /* Before the first look, so that nothing is missed between the two. */
  const unsubscribe = subscribeIfPossible(store, wake);
  const forget = claims.subscribe(wake);
  signal.addEventListener('abort', wake);
  try {
    const feedEnd = await feed.findEnd();
    let position = from ?? feedEnd;
    let claimed = claims.count;
    let saidAt = host.now();
    let delayMs = pollMs;
    yield encode({ retry: retryMs });
    if (position > feedEnd) {
      /* Of a feed that was begun anew, as with a restored database, nobody knows what the client has missed. */
      position = feedEnd;
      yield writeChanges([{}], position);
    }
    while (!signal.aborted) {
      const news = await readNews(inbox, { position, claimed });
      claimed = claims.count;
      position = news.next;
      const isDue = host.now() - saidAt >= keepAliveMs;
      if (!news.hasChanged && !isDue) {
        await waitForNews(inbox, { wakeUp, signal, delayMs: Math.min(delayMs, keepAliveMs) });
        delayMs = Math.min(delayMs * 2, mostMs);
        continue;
      }
      /* With the rights that the person has now. */
      const present = await findSameUser(inbox, user, request);
      if (present === undefined) return;
      const changes = await nameNews(inbox, present, news);
      if (changes.length === 0 && !isDue) continue;
      saidAt = host.now();
      delayMs = pollMs;
      yield writeChanges(changes, position);
    }
  } finally {
    signal.removeEventListener('abort', wake);
    forget();
    await unsubscribe();
  }
}

/** Waits until something may have changed, or it is time to look. */
async function waitForNews(
  { options: { wait = waitForTimer } }: InboxContext,
  { wakeUp, signal, delayMs }: { wakeUp: WakeUp; signal: AbortSignal; delayMs: number },
): Promise<void> {
  const over = new AbortController();
  const timer = wait(delayMs, AbortSignal.any([signal, over.signal]));
  await Promise.race([wakeUp.wait(), timer]).finally(() => over.abort());
}

/** What has changed for anybody, and the position after it. */
interface News {
  hasChanged: boolean;
  /** Whether there was more than a stream tells. */
  isBehind: boolean;
  read: readonly FeedChange[];
  claims: readonly RequestIds[];
  next: number;
}

async function readNews(
  { feed, claims }: InboxContext,
  { position, claimed }: { position: number; claimed: number },
): Promise<News> {
  const read = await feed.read(position, mostChanges);
  const claimChanges = claims.changesAfter(claimed);
  const isBehind = read.length === mostChanges || claimChanges === undefined;
  const hasChanged = isBehind || read.length > 0 || claimChanges.length > 0;
  const next = isBehind ? await feed.findEnd() : (read.at(-1)?.position ?? position);
  return { hasChanged, isBehind, read, claims: claimChanges ?? [], next };
}

/** What has changed for a person. A change without a name says that anything may have changed. */
async function nameNews(
  inbox: InboxContext,
  user: InboxUser,
  { isBehind, read, claims }: News,
): Promise<InboxChange[]> {
  if (isBehind) return [{}];
  return [...(await nameChanges(inbox, user, read)), ...(await nameClaims(inbox, user, claims))];
}

/** The changes of requests that the person may see. Of what was deleted nobody knows who could see it: that has no name. */
async function nameChanges(
  inbox: InboxContext,
  user: InboxUser,
  read: readonly FeedChange[],
): Promise<InboxChange[]> {
  const latest = new Map(read.map((change) => [change.requestId, change]));
  const rows = [...latest.values()].flatMap(({ request }) => request ?? []);
  const isDeleted = [...latest.values()].some(({ request }) => request === undefined);
  const named = await nameRows(inbox, user, rows);
  return isDeleted ? [...named, {}] : named;
}

async function nameClaims(
  inbox: InboxContext,
  user: InboxUser,
  changed: readonly RequestIds[],
): Promise<InboxChange[]> {
  const ids = [...new Set(changed.map(({ requestId }) => requestId))];
  const rows = await Promise.all(ids.map(async (id) => inbox.agents.requests.get(id)));
  return nameRows(
    inbox,
    user,
    rows.filter((row) => row !== undefined),
  );
}

async function nameRows(
  inbox: InboxContext,
  user: InboxUser,
  rows: readonly StoredRequest[],
): Promise<InboxChange[]> {
  const named: InboxChange[] = [];
  for (const seen of await seeInboxRows(inbox.agents, rows, user.by)) {
    const { requestId, threadId } = seen.row;
    if (await maySeeRequest(inbox, user, seen)) named.push({ requestId, threadId });
  }
  return named;
}

/** The person as the app says now of the request, as it was sent; `undefined` if it is not the same one still. */
async function findSameUser(
  inbox: InboxContext,
  { viewer }: InboxUser,
  request: Request,
): Promise<InboxUser | undefined> {
  const now = await authorizeUser(inbox, request);
  return now instanceof Response || now.viewer !== viewer ? undefined : now;
}

/** The events of changes, each with the position from which a client goes on. Without one it is a sign of life that moves the position. */
function writeChanges(changes: readonly InboxChange[], position: number): string {
  const id = String(position);
  if (changes.length === 0) return encode({ id });
  return changes.map((change) => encode({ id, data: JSON.stringify(change) })).join('');
}
