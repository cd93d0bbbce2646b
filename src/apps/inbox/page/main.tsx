import { render } from 'preact';
import { Connection } from '../../../browser/connection.ts';
import { fetchWithRetries } from '../../../browser/lost-connection.ts';
import { isObject } from '../../../json/json-value.ts';
import { App } from './app.tsx';
import { Inbox } from './inbox.ts';
import { InboxClient, signedOut } from './inbox-client.ts';
import { Notifier } from './notifier.ts';
import { SharedChanges } from './shared-changes.ts';
import { StoredSetting } from './stored-setting.ts';

const api = new URL('api/', import.meta.url).href;
const title = document.title || 'Inbox';
const now = (): number => Date.now();
const connection = new Connection();
/* The page notices a server that stays silent. */
connection.isWatched = true;
const never = new AbortController().signal;
const wait = async (milliseconds: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener('abort', () => resolve(clearTimeout(timer)), { once: true });
  });
const client = new InboxClient({
  api,
  fetch: fetchWithRetries({
    fetch: async (input, init) => fetch(input, init),
    wait,
    connection,
    signal: () => never,
  }),
  now,
  onOtherViewer: () => leave(),
});
const inbox = new Inbox(client, now);
const letters = new StoredSetting('letters', true);
const notifier = new Notifier(new StoredSetting('notify', false), title);

const restMs = 200;
let restTimer: number | undefined;
let isChanged = false;
/* Changes come in bursts: the first is read at once, the others together. */
const refreshSoon = (): void => {
  isChanged = restTimer !== undefined;
  if (isChanged) return;
  void inbox.refresh();
  restTimer = window.setTimeout(() => {
    restTimer = undefined;
    if (isChanged) refreshSoon();
  }, restMs);
};
const changes = new SharedChanges({
  api,
  position: () => client.position,
  onChange: () => {
    if (document.hidden) inbox.freshness.doubt();
    else refreshSoon();
  },
  onWithheld: () => {
    inbox.problem = signedOut;
    inbox.changed();
    if (!document.hidden) refreshSoon();
  },
  onCount: (count) => notifier.show(count, changes),
  readCount: async () => (await client.readCounts()).mine.count,
});

/* Another person has signed in, and gets their own page. It reports the answers that were being sent, as this page can't wait for them. */
let isLeaving = false;
const leave = (): void => {
  if (isLeaving) return;
  isLeaving = true;
  history.replaceState({ isUnsure: inbox.answering.sendingIds.length > 0 }, '');
  location.reload();
};
const takeUnsure = (): boolean => {
  const state: unknown = history.state;
  history.replaceState(null, '');
  return isObject(state) && state['isUnsure'] === true;
};
const unsureWords =
  'The sign-in has changed. An answer that was on its way may not be recorded: look for its request under Decided.';

let wasWithheld = false;
const tellSignIn = (): void => {
  const { counts, problem: { isWithheld } = { isWithheld: false } } = inbox;
  if (isWithheld === wasWithheld) return;
  wasWithheld = isWithheld;
  changes.tellSignIn({ isWithheld });
  if (isWithheld) document.title = title;
  else if (counts !== undefined) notifier.show(counts.mine.count, changes);
};

/* The address keeps the page's state; a fragment is never sent to a server. */
const readAddress = (): { list: string; request: string } => {
  const search = new URLSearchParams(location.hash.slice(1));
  return { list: search.get('list') ?? 'mine', request: search.get('request') ?? '' };
};
const writeAddress = (): void => {
  if (isLeaving) return;
  const { row } = inbox.opened ?? {};
  const search = new URLSearchParams({
    list: inbox.query.list,
    ...(row === undefined ? {} : { request: row.key }),
  });
  if (location.hash.slice(1) !== `${search}`) history.replaceState(null, '', `#${search}`);
};

/* The browser has preloaded the first list, and warns if it is unused: the server can't know that the address names another list. */
const takePreloaded = (): void => {
  const { href } = document.querySelector<HTMLLinkElement>('link[as="fetch"]') ?? {};
  if (href !== undefined) void fetch(href);
};

const start = async (): Promise<void> => {
  const { list, request } = readAddress();
  const known = (['mine', 'all', 'decided', 'unsettled'] as const).find((each) => each === list);
  if (known !== undefined && known !== 'mine') takePreloaded();
  await inbox.setQuery({ list: known ?? 'mine' });
  if (request !== '') await inbox.openById(request);
  if (takeUnsure()) {
    inbox.answering.alert = unsureWords;
    inbox.changed();
  }
  inbox.subscribe(writeAddress);
  inbox.subscribe(tellSignIn);
  changes.start();
  if (inbox.counts !== undefined) notifier.show(inbox.counts.mine.count, changes);
};

document.addEventListener('visibilitychange', () => {
  if (document.hidden) return;
  inbox.freshness.doubt();
  void inbox.refresh();
});
setInterval(() => {
  const isFresh = inbox.freshness.isFresh(now());
  inbox.freshness.tick(now());
  if (!isFresh && !document.hidden) void inbox.refresh();
  else if (!document.hidden) inbox.changed();
}, 10_000);
const followConnection = (isReachable: boolean): void => {
  inbox.changed();
  /* Reads are repeated until there is a response. Then hanging requests are sent again, too. */
  if (!isReachable) void inbox.refresh();
};
connection.subscribe(followConnection, never);
window.addEventListener('offline', () => connection.report(false));
window.addEventListener('online', () => {
  connection.retryNow();
  void inbox.refresh();
});
window.addEventListener('beforeunload', (event) => {
  if (!isLeaving && inbox.answering.sendingIds.length > 0) event.preventDefault();
});

const root = document.querySelector('#root');
if (root !== null) {
  const isReachable = (): boolean => connection.isReachable;
  /* The list loads while the page around it is drawn. */
  void start();
  render(<App {...{ inbox, letters, notifier, title, isReachable }} />, root);
}
