import { checkMs, refuseUnknown } from '../../content/check-settings.ts';
import { describeDeadline } from '../../content/deadline-words.ts';
import { type UserInputRequest, userInputRequestSchema } from '../../content/user-input.ts';
import { HoldpointError } from '../../errors.ts';
import { type LinkKey, parseLinkKeys } from './link-keys.ts';
import { checkFormats, type ToolFormats } from '../../view/field-format.ts';
import { type LinkTokens, signLink, verifyLink } from './link-token.ts';
import { type LinkRoute, type LinkVisit, openVisit, type RequireSignIn } from './link-visit.ts';
import { findLinkedRequest, type LinkAgent, readLinkState } from './linked-request.ts';
import { makeMaskedRequest } from './masked-request.ts';
import { renderPublicError } from '../../http/error-response.ts';
import { readBodyText } from '../../http/read-json-body.ts';
import { answerRequest, showState } from './answer-request.ts';
import { makeBareResponse, makeNoticePage } from './page-response.ts';
import { refuseLink } from './state-page.ts';

/** The options of `createLinks`. */
interface LinksOptions {
  /** The agents whose requests have links. An agent's threads are found by its name. */
  agents: readonly LinkAgent[];
  /**
   * The address under which `handler` is served, such as `https://app.example/answer`: with `https`, as a link is a secret, or on this
   * machine. A link for another address is refused, even with the same keys.
   */
  url: string;
  /**
   * The keys, as JSON Web Keys with a `kid` and an `alg`: `HS256` with a secret of at least 32 bytes, or `EdDSA` with a pair, of which a
   * server that makes no links needs only the public half. The first that can sign makes the links; all are accepted. To change keys, put
   * the new one first, and remove the old one when its last link has ended.
   */
  keys: readonly LinkKey[];
  /** The default and maximum lifetime of a link, in milliseconds. Default: 24 hours. No link outlives its request. */
  expiresInMs?: number;
  /**
   * Identifies the signed-in person, for an app that does not trust the link alone: whoever has a link can use it. A principal other than
   * the link's person is refused, as is `undefined`; a `Response`, such as a redirect to the sign-in, is sent unchanged. The answer is
   * recorded with this principal. Default: none.
   */
  requireSignIn?: RequireSignIn;
  /** The address where people sign in to edit a call before they approve it. The page links to it, and allows no edits itself. */
  inboxUrl?: string;
  /**
   * The arguments that are secrets, by tool, in addition to those that the input schemas declare, as in `createInboxHandler`: only `type:
   * 'secret'` matters here. The processes that make and serve a link need the same.
   */
  formats?: ToolFormats;
  /** The IANA time zone of the times on the page, as `Europe/Paris`. Default `UTC`. */
  timeZone?: string;
  /** Called with an error that is not the visitor's; returns the text that they get. Default: `An error occurred.` */
  onError?: (error: unknown) => string;
}

/** Makes links, and serves them. */
export interface Links {
  /**
   * Makes a link with which one person sees and answers one request in its current form. Nothing is stored. Whoever has the link can use
   * it, so send it to that person alone. `principal` identifies them, as in `agent.respond`: it can be read in the link, so pass an id and
   * no roles, which `mayAnswer` looks up.
   *
   * Throws `invalid-input` for an invalid request, `request-closed` for one that has expired, `not-found` for one that none of several
   * agents has, and a `TypeError` for a principal that names nobody or makes the link too long, for a time longer than the app's, and if no
   * key can sign.
   *
   * @example
   * const url = await links.create(request, { principal: 'ada@example.com' });
   */
  create(
    request: UserInputRequest,
    options: {
      /** The person. */
      principal: unknown;
      /** The lifetime of the link, in milliseconds: at least a second. Default and maximum: the `expiresInMs` of `createLinks`. */
      expiresInMs?: number;
    },
  ): Promise<string>;
  /**
   * Serves the links, as a fetch-style handler for everything below `url`. `GET` shows the request and never answers it, however often it
   * is fetched; only the form of the page answers. The page needs no script.
   */
  handler(request: Request): Promise<Response>;
}

const settings = {
  agents: true,
  url: true,
  keys: true,
  expiresInMs: true,
  requireSignIn: true,
  inboxUrl: true,
  formats: true,
  timeZone: true,
  onError: true,
} satisfies Record<keyof LinksOptions, true>;

const defaultMs = 24 * 3_600_000;

/**
 * Creates links with which a person answers a request without opening the app, such as from a mail. A link is for one named person and one
 * request, bound to what was shown; the first answer in the log spends it. The answer is recorded by `agent.respond` with the channel
 * `link`, so `mayAnswer` is asked, and a worker runs the call.
 *
 * Throws a `TypeError` for invalid options.
 *
 * @example
 * const links = createLinks({ agents: [agent], url: 'https://app.example/answer', keys: JSON.parse(process.env.LINK_KEYS) });
 * await sendMail(`${request.text}\n\n${await links.create(request, { principal: 'ada@example.com' })}`);
 * export const { handler: GET, handler: POST } = links;
 */
export function createLinks(options: LinksOptions): Links {
  refuseUnknown('createLinks', options, settings);
  const { agents, requireSignIn, inboxUrl, formats, timeZone = 'UTC', onError } = options;
  const [agent] = agents;
  if (agent === undefined) throw new TypeError('createLinks needs at least one agent.');
  checkFormats(formats);
  describeDeadline(0, { now: 0, timeZone });
  const tokens: LinkTokens = {
    audience: parseUrl(options.url),
    keys: parseLinkKeys(options.keys),
    expiresInMs: checkMs(options.expiresInMs ?? defaultMs, 'expiresInMs', 1_000),
    now: () => agent.now(),
  };
  const route: LinkRoute = { agents, tokens, requireSignIn, inboxUrl, formats, timeZone, onError };
  return {
    create: async (request, { principal, expiresInMs = tokens.expiresInMs }) =>
      createLink(route, { request, principal, expiresInMs }),
    handler: async (request) => serveLink(route, request),
  };
}

/* A link is a secret, and so is the form that its page sends. */
function parseUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isLocal = /^(localhost|127\.0\.0\.1|\[::1\])$/.test(url?.hostname ?? '');
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isLocal);
  if (url !== undefined && isSafe && url.search === '' && url.hash === '') {
    return `${url.origin}${url.pathname.replace(/\/$/, '')}`;
  }
  throw new TypeError(
    `createLinks needs the url of its handler, with https or on localhost, and without a query; got ${JSON.stringify(text)}.`,
  );
}

async function createLink(
  { agents, tokens, formats }: LinkRoute,
  {
    request,
    principal,
    expiresInMs,
  }: { request: UserInputRequest; principal: unknown; expiresInMs: number },
): Promise<string> {
  const { data: shown } = userInputRequestSchema.safeParse(request);
  if (shown === undefined) {
    throw new HoldpointError('invalid-input', 'A link is for a request; this is none.');
  }
  if (!isSomebody(principal)) {
    throw new TypeError('A link is for one person: principal must be a text or an object.');
  }
  if (!(expiresInMs >= 1_000 && expiresInMs <= tokens.expiresInMs)) {
    throw new TypeError(
      `A link counts for 1,000 to ${tokens.expiresInMs} ms, the expiresInMs of createLinks; got ${expiresInMs}.`,
    );
  }
  const { threadId, requestId, expiresAt = Infinity } = shown;
  const now = tokens.now();
  const iat = Math.floor(now / 1_000);
  /* Rounded down to seconds, so that no link lives too long. */
  const exp = Math.floor(Math.min(iat * 1_000 + expiresInMs, expiresAt) / 1_000);
  if (exp * 1_000 <= now) {
    throw new HoldpointError('request-closed', `Request ${requestId} has expired.`, { requestId });
  }
  const agent = await findAgent(agents, shown);
  const { digest } = await makeMaskedRequest(agent, shown, formats);
  const claims = { threadId, requestId, digest, principal, iat, exp };
  return `${tokens.audience}/${await signLink(tokens, claims)}`;
}

/* The agent's tool schemas declare the secrets: with a wrong agent, the link could show a secret. */
async function findAgent(
  agents: readonly LinkAgent[],
  request: UserInputRequest,
): Promise<LinkAgent> {
  const [only, ...others] = agents;
  if (only !== undefined && others.length === 0) return only;
  const linked = await findLinkedRequest(agents, request);
  if (linked !== undefined) return linked.agent;
  const { requestId } = request;
  throw new HoldpointError('not-found', `No agent of these links has request ${requestId}.`, {
    requestId,
  });
}

function isSomebody(principal: unknown): boolean {
  if (typeof principal === 'string') return principal.trim() !== '';
  return typeof principal === 'object' && principal !== null;
}

const allow = 'GET, HEAD, POST, OPTIONS';
const maximumBodyBytes = 1_048_576;

/** Serves the page of a link. Only a form of that page answers; any other request records nothing. */
async function serveLink(route: LinkRoute, request: Request): Promise<Response> {
  try {
    switch (request.method) {
      case 'GET':
        return await visitLink(route, request);
      case 'HEAD':
        return omitBody(await visitLink(route, request));
      case 'POST':
        return await postToLink(route, request);
      case 'OPTIONS':
        return await makeBareResponse(204, { allow });
    }
    return await makeBareResponse(405, { allow });
  } catch (error) {
    return makeNoticePage(500, 'That failed', renderPublicError(error, route.onError));
  }
}

function omitBody(response: Response): Response {
  return new Response(null, response);
}

async function visitLink(route: LinkRoute, request: Request): Promise<Response> {
  const visit = await findVisit(route, request);
  if (visit instanceof Response) return visit;
  const state = await readLinkState(visit.linked, visit.claims, visit);
  return showState(visit, state, { isPost: false });
}

async function postToLink(route: LinkRoute, request: Request): Promise<Response> {
  if (!isFromOwnPage(request, route)) {
    const how = 'Nothing was recorded. Open the link in a browser, and answer on its page.';
    return makeNoticePage(403, 'This did not come from the page', how);
  }
  const type = 'application/x-www-form-urlencoded';
  const body = await readBodyText(request, { type, maximumBytes: maximumBodyBytes });
  if (body instanceof Response) {
    return makeNoticePage(body.status, 'That could not be read', 'Nothing was recorded.');
  }
  const visit = await findVisit(route, request);
  if (visit instanceof Response) return visit;
  const state = await readLinkState(visit.linked, visit.claims, visit);
  return state.type === 'open'
    ? answerRequest(visit, state, body.text)
    : showState(visit, state, { isPost: true });
}

/* With its `referrer-policy`, the page's form sends the origin `null`, so another header has to show that it comes from the same site. */
function isFromOwnPage({ headers }: Request, { tokens: { audience } }: LinkRoute): boolean {
  const site = headers.get('sec-fetch-site');
  if (site !== null) return site === 'same-origin';
  return headers.get('origin') === new URL(audience).origin;
}

async function findVisit(route: LinkRoute, request: Request): Promise<LinkVisit | Response> {
  const token = new URL(request.url).pathname.split('/').at(-1) ?? '';
  const claims = await verifyLink(route.tokens, token);
  const linked = claims && (await findLinkedRequest(route.agents, claims));
  if (claims === undefined || linked === undefined) return refuseLink();
  return openVisit(route, request, { token, claims, linked });
}
