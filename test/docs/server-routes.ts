import { type PublishedServer, type ShownBlock, shownServers } from './published-servers.ts';

/** The routes of a server: what the thread's owner may send to each, and may read. */
interface Routes {
  posts: readonly { path: string; body: (requestId: string) => object }[];
  gets?: readonly string[];
  /** What shows that the first of them got through. */
  effect?: 'answered' | 'said';
}

const approve = (requestId: string) => ({ type: 'approval-response', requestId, approved: true });
export const threadId = 'trip-42';
const said = { id: 'm1', role: 'user', parts: [{ type: 'text', text: 'And a hotel.' }] };
const run = { runId: 'r1', state: {}, messages: [], tools: [], context: [], forwardedProps: {} };

const page: Routes = {
  posts: [
    { path: '/chat', body: (requestId) => ({ id: threadId, answers: [approve(requestId)] }) },
    { path: '/chat', body: () => ({ id: threadId, stop: true }) },
    { path: '/chat', body: (requestId) => ({ id: threadId, withdraw: requestId }) },
    { path: '/chat', body: (requestId) => ({ id: threadId, reassign: { requestId, to: 'eve' } }) },
    { path: '/chat', body: () => ({ id: threadId, message: said, whilePending: 'cancel' }) },
  ],
  gets: ['/chat?id=trip-42', '/chat?id=trip-42&stream', '/chat/trip-42/stream'],
  effect: 'answered',
};
const inbox = (path: string): Routes['posts'][number] => ({
  path,
  body: (requestId) => ({ threadId, answer: approve(requestId) }),
});

/** The servers of the docs that have a sign-in to fill in. */
export const signedIn = new Map<string, Routes>([
  ['docs/channels/page.md 1', page],
  ['docs/guides/migrating.md 1', page],
  ['docs/runtimes.md 1', page],
  [
    'docs/channels/ag-ui.md 1',
    {
      posts: [
        {
          path: '/agui',
          body: (interruptId) => ({
            ...run,
            threadId,
            resume: [{ interruptId, status: 'resolved', payload: { approved: true } }],
          }),
        },
        {
          path: '/agui',
          body: () => ({
            ...run,
            threadId,
            messages: [{ id: 'm1', role: 'user', content: 'And a hotel.' }],
            forwardedProps: { whilePending: 'cancel' },
          }),
        },
      ],
      effect: 'answered',
    },
  ],
  ['docs/channels/ag-ui.md 2', { posts: [{ path: '/stop', body: () => ({ threadId }) }] }],
  ['docs/channels/inbox.md 2', { posts: [inbox('/inbox')], effect: 'answered' }],
  [
    'docs/guides/your-own-loop.md 1',
    { posts: [{ path: '/chat', body: () => ({ id: threadId, messages: [said] }) }] },
  ],
  [
    'docs/guides/workflow.md 1',
    {
      posts: [
        inbox('/answer'),
        { path: '/say', body: () => ({ threadId, message: { id: 'm1', text: 'And a hotel.' } }) },
      ],
      effect: 'answered',
    },
  ],
]);

/** The others, each of which has a test of its own below. */
export const others = [
  'docs/channels/inbox.md 1',
  'docs/channels/page.md 2', // serves the first one
  'docs/guides/remote-tools.md 1',
  'docs/guides/remote-tools.md 2',
  'docs/guides/remote-tools.md 3',
  'docs/guides/restate.md 1',
  'docs/runtimes.md 2',
];

export const shown = new Map(shownServers().map((each) => [each.key, each]));

export function blockOf(key: string): ShownBlock {
  const block = shown.get(key);
  if (block === undefined) throw new Error(`The docs have no server ${key}.`);
  return block;
}

export const json = { 'content-type': 'application/json' };
export const text = { 'content-type': 'text/plain' };
export const evil = { origin: 'https://evil.example' };
export const ada = { 'x-name': 'ada' };

/** The id of the request that waits in the thread. */
export async function waitingRequest(server: PublishedServer): Promise<string> {
  const opened = (await server.events()).find(({ type }) => type === 'request-opened');
  return opened?.type === 'request-opened' ? opened.request.requestId : '';
}

interface Attempt {
  name: string;
  path: string;
  init: RequestInit;
}

/** What a stranger sends, also from a page that somebody who is signed in has opened. */
export function attemptsOf(
  { posts, gets = [] }: Routes,
  requestId: string,
  name: object,
): Attempt[] {
  const posted = posts.flatMap(({ path, body }) => {
    const fits = JSON.stringify(body(requestId));
    const forms: [string, object, string][] = [
      ['a page of another site', { ...name, ...json, ...evil }, fits],
      ['a form of another site', { ...name, ...text, ...evil }, fits],
      ['a page in a sandbox', { ...name, ...json, origin: 'null' }, fits],
      ['no JSON', { ...name, ...json }, '{bad'],
      ['null', { ...name, ...json }, 'null'],
      ['a text', { ...name, ...text }, fits],
      ['nobody', json, fits],
      ['somebody else, who is signed in', { ...json, 'x-name': 'eve' }, fits],
    ];
    return forms.map(([form, headers, sent]) => ({
      name: `${path} ${form}: ${fits}`,
      path,
      init: { method: 'POST', headers: { ...headers }, body: sent },
    }));
  });
  const read = gets.flatMap((path) => [
    { name: `GET ${path}`, path, init: {} },
    { name: `GET ${path} of eve`, path, init: { headers: { 'x-name': 'eve' } } },
  ]);
  return [...posted, ...read];
}

/** What gets another answer than a refusal. */
export async function accepted(
  server: PublishedServer,
  attempts: readonly Attempt[],
): Promise<string[]> {
  const found: string[] = [];
  for (const { name, path, init } of attempts) {
    const status = await server.send(path, init);
    if (status < 400 || status >= 500) found.push(`${status} ${name}`);
  }
  return found;
}

/** The requests of the owner themselves. */
export function ownRequests({ posts, gets = [] }: Routes, requestId: string): Attempt[] {
  return [
    ...posts.map(({ path, body }) => ({
      name: path,
      path,
      init: {
        method: 'POST',
        headers: { ...ada, ...json },
        body: JSON.stringify(body(requestId)),
      },
    })),
    ...gets.map((path) => ({ name: path, path, init: { headers: ada } })),
  ];
}
