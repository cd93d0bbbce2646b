import { digestViewer, isSignedIn } from '../../agent.ts';
import type { TimeReader } from '../../content/deadline-words.ts';
import { renderNamedPerson } from '../../content/request-text.ts';
import type { LinkClaims, LinkTokens } from './link-token.ts';
import type { LinkAgent, LinkedRequest, LinkReading } from './linked-request.ts';
import { makeNoticePage } from './page-response.ts';
import type { LinkedPage } from './request-page.ts';

/** Identifies the person who is signed in and opens a link. */
export type RequireSignIn = (context: {
  /** Its body has already been read. */
  request: Request;
  /** The thread that has the request. */
  threadId: string;
}) => SignIn | PromiseLike<SignIn>;

/** The signed-in person, as the app identifies them; a `Response`, such as a redirect to the sign-in, is sent unchanged. */
type SignIn = { principal: unknown } | Response | undefined;

/** The parts that serve links. */
export interface LinkRoute {
  agents: readonly LinkAgent[];
  tokens: LinkTokens;
  requireSignIn: RequireSignIn | undefined;
  inboxUrl: string | undefined;
  formats: LinkReading['formats'];
  timeZone: string;
  onError: ((error: unknown) => string) | undefined;
}

/** A visit to a valid link, by its person as far as that is known. */
export interface LinkVisit extends LinkReading {
  token: string;
  claims: LinkClaims;
  agents: readonly LinkAgent[];
  linked: LinkedRequest;
  reader: TimeReader;
  /** The facts that the page shows besides the request. */
  shown: Pick<LinkedPage, 'person' | 'needsSignIn' | 'endsAt' | 'reader' | 'inboxUrl'>;
}

/** Opens a visit to a link. Returns a refusal if the app demands a sign-in and the link's person isn't the one signed in. */
export async function openVisit(
  route: LinkRoute,
  request: Request,
  valid: Pick<LinkVisit, 'token' | 'claims' | 'linked'>,
): Promise<LinkVisit | Response> {
  const { agents, inboxUrl, formats, timeZone } = route;
  const person = await findPerson(route, request, valid);
  if (person instanceof Response) return person;
  const { principal } = person;
  const reader = { now: valid.linked.agent.now(), timeZone };
  const named = renderNamedPerson(principal) ?? 'you';
  const needsSignIn = route.requireSignIn !== undefined;
  const shown = { person: named, needsSignIn, endsAt: valid.claims.exp * 1_000, reader, inboxUrl };
  return { ...valid, agents, by: { principal, channel: 'link' }, formats, reader, shown };
}

async function findPerson(
  { requireSignIn }: LinkRoute,
  request: Request,
  { claims: { principal, threadId }, linked: { agent } }: Pick<LinkVisit, 'claims' | 'linked'>,
): Promise<{ principal: unknown } | Response> {
  if (requireSignIn === undefined) return { principal };
  const signIn = await callSignIn(requireSignIn, { request, threadId });
  if (signIn instanceof Response) return signIn;
  if (signIn === undefined || !isSignedIn(agent, { principal: signIn.principal, threadId })) {
    return makeNoticePage(403, 'Sign in first', 'Sign in, and open the link again.');
  }
  const [invited, present] = await Promise.all([
    digestViewer(agent, threadId, principal),
    digestViewer(agent, threadId, signIn.principal),
  ]);
  /* The principal as the app has it now: the link may be older than their roles. */
  if (invited !== undefined && invited === present) return { principal: signIn.principal };
  return makeNoticePage(
    403,
    'This link is for somebody else',
    'Sign in as the person to whom it was sent.',
  );
}

async function callSignIn(
  requireSignIn: RequireSignIn,
  context: Parameters<RequireSignIn>[0],
): Promise<SignIn> {
  try {
    return await requireSignIn(context);
  } catch (cause) {
    throw new Error('requireSignIn failed.', { cause });
  }
}
