import { encode } from 'eventsource-encoder';
import { subscribeIfPossible } from '../../agent.ts';
import { waitForTimer, WakeUp } from '../../content/waiting.ts';
import { HoldpointError } from '../../errors.ts';
import type { FeedChange, StoredRequest } from '../../thread/thread-store-requests.ts';
import type { InboxChange } from './inbox-api.ts';
import { seeInboxRows } from './inbox-agents.ts';
import {
  authorizeUser,
  type InboxContext,
  type InboxUser,
  maySeeRequest,
} from './inbox-context.ts';

/* A client that is further behind than this reads the lists again. */
const mostChanges = 200;

/* The pause between polls of a silent feed, in milliseconds, for a store with notices, which can fail. */
const longestMs = 1_500;

/* The time after which a disconnected browser reconnects, in milliseconds. */
const retryMs = 2_000;

/** Parses the position from which a client continues. Throws `invalid-input` for an invalid one. */
function parsePosition({ headers, url }: Request): number | undefined {
  const given = headers.get('last-event-id') ?? new URL(url).searchParams.get('after');
  if (given === null || given === '') return undefined;
  const position = Number(given);
  if (/^\d{1,15}$/.test(given)) return position;
  throw new HoldpointError('invalid-input', 'after must be a position of the feed of changes.');
}

/**
 * Streams the changes of requests that a person may see, as server-sent events. The feed is read from the client's position when the client
 * reads, so that nothing is buffered for a slow one. The app identifies the person again before each change is sent: the stream ends with
 * the sign-in.
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
  /** The position from which it continues; absent: from now on. */
  from: number | undefined;
  signal: AbortSignal;
}

async function* streamChanges(
  inbox: InboxContext,
  user: InboxUser,
  { request, from, signal }: Follower,
): AsyncGenerator<string, void> {
  const { options, agents, feed } = inbox;
  const { host, store } = agents;
  const { keepAliveMs = 15_000, pollMs = 500 } = options;
  const mostMs = store.subscribe === undefined ? pollMs : Math.max(pollMs, longestMs);
  const wakeUp = new WakeUp();
  const wake = (): void => wakeUp.wake();
  /* Before the first read, so that nothing is missed in between. */
  const unsubscribe = subscribeIfPossible(store, wake);
  signal.addEventListener('abort', wake);
  try {
    const feedEnd = await feed.findEnd();
    let position = from ?? feedEnd;
    let saidAt = host.now();
    let delayMs = pollMs;
    yield encode({ retry: retryMs });
    if (position > feedEnd) {
      /* If the feed was restarted, as with a restored database, it is unknown what the client has missed. */
      position = feedEnd;
      yield writeChanges([{}], position);
    }
    while (!signal.aborted) {
      const news = await readNews(inbox, position);
      position = news.next;
      const isDue = host.now() - saidAt >= keepAliveMs;
      if (news.read.length === 0 && !isDue) {
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
    await unsubscribe();
  }
}

/** Waits until something may have changed, or it is time to poll. */
async function waitForNews(
  { options: { wait = waitForTimer } }: InboxContext,
  { wakeUp, signal, delayMs }: { wakeUp: WakeUp; signal: AbortSignal; delayMs: number },
): Promise<void> {
  const over = new AbortController();
  const timer = wait(delayMs, AbortSignal.any([signal, over.signal]));
  await Promise.race([wakeUp.wait(), timer]).finally(() => over.abort());
}

/** The changes for anybody, and the position after them. */
interface News {
  /** True if there were more changes than a stream sends. */
  isBehind: boolean;
  read: readonly FeedChange[];
  next: number;
}

async function readNews({ feed }: InboxContext, position: number): Promise<News> {
  const read = await feed.read(position, mostChanges);
  const isBehind = read.length === mostChanges;
  const next = isBehind ? await feed.findEnd() : (read.at(-1)?.position ?? position);
  return { isBehind, read, next };
}

/**
 * Names the changes of requests that the person may see. A change without a name says that anything may have changed: for a client that is
 * far behind, and for deletions, since it is unknown who could see them.
 */
async function nameNews(
  inbox: InboxContext,
  user: InboxUser,
  { isBehind, read }: News,
): Promise<InboxChange[]> {
  if (isBehind) return [{}];
  const latest = new Map(read.map((change) => [change.requestId, change]));
  const rows = [...latest.values()].flatMap(({ request }) => request ?? []);
  const isDeleted = [...latest.values()].some(({ request }) => request === undefined);
  const named = await nameRows(inbox, user, rows);
  return isDeleted ? [...named, {}] : named;
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

/** Identifies the sender of the request again; `undefined` if the person has changed. */
async function findSameUser(
  inbox: InboxContext,
  { viewer }: InboxUser,
  request: Request,
): Promise<InboxUser | undefined> {
  const now = await authorizeUser(inbox, request);
  return now instanceof Response || now.viewer !== viewer ? undefined : now;
}

/**
 * Writes changes as events, each with the position from which a client continues. Without changes it is a keep-alive that moves the
 * position.
 */
function writeChanges(changes: readonly InboxChange[], position: number): string {
  const id = String(position);
  if (changes.length === 0) return encode({ id });
  return changes.map((change) => encode({ id, data: JSON.stringify(change) })).join('');
}
