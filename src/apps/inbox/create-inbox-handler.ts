import type { ZodType } from 'zod';
import { renderSchemaError } from '../../json/field-fault.ts';
import { HoldpointError } from '../../errors.ts';
import {
  makeErrorResponse,
  makeJsonResponse,
  makeRefusalResponse,
} from '../../http/error-response.ts';
import { readJsonBody, readTextField } from '../../http/read-json-body.ts';
import { refuseForeignOrigin } from '../../http/receive-request.ts';
import { act } from './act.ts';
import { makeChangeResponse } from './change-stream.ts';
import { FeedReader } from './feed-reader.ts';
import { inboxActionSchema, inboxAnswersSchema } from './inbox-api.ts';
import { gatherAgents } from './inbox-agents.ts';
import { authorizeUser, type InboxContext, type InboxUser } from './inbox-context.ts';
import { checkInboxOptions, type InboxHandlerOptions } from './inbox-handler-options.ts';
import { countLists, parseListQuery, readPage } from './read-lists.ts';
import { readFullRequest } from './read-request.ts';
import { recordAnswers } from './record-answers.ts';
import { type PageSettings, preparePage, servePageFile } from './serve-page.ts';

/**
 * Creates an inbox: a fetch-style handler with a page and a JSON API for everything that waits for a person, over all threads of a store.
 * Mount it at `path` and below.
 *
 * - `GET <path>` is the page.
 * - `GET <path>/api/requests?list=&agent=&tool=&risk=&requester=&text=&order=&after=&limit=` is a page of a list: `mine`, `all`, `decided`,
 *   `unsettled`.
 * - `GET <path>/api/requests/<requestId>` is one request, with earlier decisions about calls of its tool.
 * - `GET <path>/api/counts` counts the lists.
 * - `GET <path>/api/changes?after=` streams what changes, as server-sent events.
 * - `POST <path>/api/answers` takes `{ viewer, answers: [{ requestId, threadId, digest, answer }] }`, and responds with one outcome for
 *   each.
 * - `POST <path>/api/actions` withdraws, reassigns, settles a lost call, retries a stuck thread, and runs a call of a gate.
 *
 * Answers are recorded, and a worker runs the calls. An answer is refused (`answer-mismatch`) if its `digest` is not that of the request in
 * the log. Refusals are JSON, `{ error: { code, message } }`: 400, 403 (also `foreign-origin` and `other-viewer`), 404, 405, 413, 415, 500.
 *
 * Throws a `TypeError` for an option that it does not have or that is not valid, and for agents without a common store that keeps requests.
 *
 * @example
 * const inbox = createInboxHandler({
 *   agents: [agent],
 *   authorize: async ({ request }) => {
 *     const user = await userOf(request);
 *     return user && { principal: user.email, as: [user.email, ...user.teams] };
 *   },
 * });
 */
export function createInboxHandler(
  options: InboxHandlerOptions,
): (request: Request) => Promise<Response> {
  checkInboxOptions(options);
  const agents = gatherAgents(options);
  const page = preparePage(options);
  const feed = new FeedReader(agents.requests);
  const inbox: InboxContext = { options, agents, feed };
  return async (request) => {
    try {
      return await route(inbox, page, request);
    } catch (error) {
      return makeErrorResponse(error, options.onError);
    }
  };
}

async function route(inbox: InboxContext, page: PageSettings, request: Request): Promise<Response> {
  const foreign = refuseForeignOrigin(request, inbox.options);
  if (foreign !== undefined) return foreign;
  const below = findPathBelow(inbox, request);
  const write = writers.get(below);
  if (write !== undefined) return refuseMethod(request, 'POST') ?? write(inbox, request);
  const read = findReader(page, below);
  if (read === undefined) return makeRefusalResponse(404, 'not-found', 'There is nothing here.');
  return refuseMethod(request, 'GET') ?? read(inbox, request);
}

function refuseMethod(request: Request, method: 'GET' | 'POST'): Response | undefined {
  if (request.method === method) return undefined;
  return makeRefusalResponse(405, 'method-not-allowed', `Use ${method}.`, { allow: method });
}

/** Finds the path below the inbox's: '' for the page itself; `undefined` for another path. */
function findPathBelow({ options: { path = '/inbox' } }: InboxContext, { url }: Request): string {
  const { pathname } = new URL(url);
  if (pathname === path || pathname === `${path}/`) return '';
  return pathname.startsWith(`${path}/`) ? pathname.slice(path.length + 1) : 'another path';
}

/** Identifies the sender of a request, or returns a refusal: also if the sender's page was read for another person. */
async function admitUser(
  inbox: InboxContext,
  request: Request,
  claimed: string | undefined,
): Promise<InboxUser | Response> {
  const user = await authorizeUser(inbox, request);
  if (user instanceof Response || claimed === undefined || claimed === user.viewer) return user;
  const message = 'This page was loaded for somebody else. Nothing was recorded; load it again.';
  return makeRefusalResponse(403, 'other-viewer', message);
}

/** Serves a path. */
type Serve = (inbox: InboxContext, request: Request) => Promise<Response>;

const readers = new Map<string, Serve>([
  ['page.js', async (_inbox, request) => servePageFile(request, 'page.js')],
  ['page.css', async (_inbox, request) => servePageFile(request, 'page.css')],
  [
    'api/requests',
    takeGet(async (inbox, user, { url }) => {
      const { searchParams } = new URL(url);
      searchParams.delete('viewer');
      return makeJsonResponse(await readPage(inbox, user, parseListQuery(searchParams)));
    }),
  ],
  ['api/counts', takeGet(async (inbox, user) => makeJsonResponse(await countLists(inbox, user)))],
  [
    'api/changes',
    takeGet(async (inbox, user, request) => makeChangeResponse(inbox, user, request)),
  ],
]);

const requestPath = /^api\/requests\/([^/]+)$/;

/** Finds the GET handler of a path; `undefined` for an unknown path. */
function findReader({ html, headers }: PageSettings, below: string): Serve | undefined {
  if (below === '') return takeGet(async () => new Response(html, { headers }));
  const [, segment] = requestPath.exec(below) ?? [];
  if (segment === undefined) return readers.get(below);
  return takeGet(async (inbox, user) =>
    makeJsonResponse(await readFullRequest(inbox, user, decodeSegment(segment))),
  );
}

/** Makes a GET route for the signed-in person. A page that names its viewer is refused if that is another person. */
function takeGet(
  read: (inbox: InboxContext, user: InboxUser, request: Request) => Promise<Response>,
): Serve {
  return async (inbox, request) => {
    const claimed = new URL(request.url).searchParams.get('viewer') ?? undefined;
    const user = await admitUser(inbox, request, claimed);
    return user instanceof Response ? user : read(inbox, user, request);
  };
}

function decodeSegment(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw new HoldpointError('invalid-input', 'The path does not name a request.');
  }
}

const writers = new Map<string, Serve>([
  [
    'api/answers',
    takePost(inboxAnswersSchema, async (inbox, user, body) => ({
      outcomes: await recordAnswers(inbox, user, body),
    })),
  ],
  ['api/actions', takePost(inboxActionSchema, act)],
]);

/** Makes a POST route: the body fits the schema, and names the viewer for whom the page was read. */
function takePost<BODY extends { viewer: string }>(
  schema: ZodType<BODY>,
  handle: (inbox: InboxContext, user: InboxUser, body: BODY) => Promise<object>,
): Serve {
  return async (inbox, request) => {
    const { maximumBodyBytes = 1_048_576 } = inbox.options;
    const body = await readJsonBody(request, maximumBodyBytes);
    if (body instanceof Response) return body;
    const user = await admitUser(inbox, request, readTextField(body.json, 'viewer'));
    if (user instanceof Response) return user;
    const { data, error } = schema.safeParse(body.json);
    if (error !== undefined) {
      const message = `The body is not valid: ${renderSchemaError(error)}`;
      throw new HoldpointError('invalid-input', message);
    }
    return makeJsonResponse(await handle(inbox, user, data));
  };
}
