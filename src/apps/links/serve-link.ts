import { renderPublicError } from '../../http/error-response.ts';
import { readBodyText } from '../../http/read-json-body.ts';
import { answerRequest, showState } from './answer-request.ts';
import { verifyLink } from './link-token.ts';
import { type LinkRoute, type LinkVisit, openVisit } from './link-visit.ts';
import { findLinkedRequest, readLinkState } from './linked-request.ts';
import { makeBareResponse, makeNoticePage } from './page-response.ts';
import { refuseLink } from './state-page.ts';

const allow = 'GET, HEAD, POST, OPTIONS';
const maximumBodyBytes = 1_048_576;

/** Serves the page of a link. Only a form of that page answers; any other request records nothing. */
export async function serveLink(route: LinkRoute, request: Request): Promise<Response> {
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
