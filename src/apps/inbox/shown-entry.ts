import { z } from 'zod';
import type { SeenRequest } from '../../agent.ts';
import { hashText } from '../../content/crypto.ts';
import { isObject, parseJson, stringifySorted } from '../../json/json-value.ts';
import { omitUnanswered } from '../../content/request-history.ts';
import { idFields } from '../../content/request-text.ts';
import type { ToolCallRecord } from '../../content/tool-call.ts';
import { hidePrincipals, type UserInputRequest } from '../../content/user-input.ts';
import type { StoredRequest } from '../../thread/thread-store-requests.ts';
import { readFormats, readLostSecrets, readSecrets } from '../../view/call-secrets.ts';
import type { FormattedPath } from '../../view/field-format.ts';
import { maskRequest, Secrets } from '../../view/mask-secrets.ts';
import type { InboxEntry } from './inbox-api.ts';
import {
  type InboxContext,
  type InboxUser,
  maySettle,
  nameStored,
  reportMistake,
} from './inbox-context.ts';
import { detailSchema, type InboxDetail } from './inbox-detail.ts';

/** Describes an entry as one person sees it: without secrets and principals, and with the digest of what is shown. */
export async function describeEntry(
  inbox: InboxContext,
  user: InboxUser,
  seen: SeenRequest,
): Promise<InboxEntry> {
  const { row, rights } = seen;
  const { digest, masked, ...shown } = await makeShown(inbox, seen);
  const now = inbox.agents.host.now();
  const sourceUrl = findSourceUrl(inbox, row);
  return {
    ...pickRow(row, now),
    requesters: row.requesters.map((name) => nameStored(inbox, row, name)),
    decidedBy: row.decidedBy === null ? null : nameStored(inbox, row, row.decidedBy),
    ...shown,
    digest,
    masked,
    /* An edit sends the whole input, and this person doesn't have its secrets. */
    rights: masked.length === 0 ? rights : { ...rights, mayEdit: false },
    maySettle: await maySettle(inbox, user, row),
    ...(sourceUrl === undefined ? {} : { sourceUrl }),
  };
}

/** The shown parts of a request, which an answer is about. */
type Shown = Pick<
  InboxEntry,
  'digest' | 'masked' | 'formats' | 'details' | 'request' | 'lostCall' | 'stuck'
>;

/** A row, with its request where it has one. */
interface RowContent {
  row: StoredRequest;
  request?: UserInputRequest | undefined;
}

/**
 * Makes the shown parts of a request, and their digest: SHA-256, as base64url, of its content without secrets and of the app's details.
 * Votes and the people who may answer are left out: they don't change what an answer is about.
 */
export async function makeShown(inbox: InboxContext, content: RowContent): Promise<Shown> {
  const { row, request } = content;
  const trouble = request === undefined ? parseTrouble(row) : undefined;
  const call = request?.toolCall ?? trouble?.call;
  const { formats, secrets } = await findSecrets(inbox, content);
  const details = await makeDetails(inbox, call, secrets);
  if (request !== undefined) {
    const { digest, value, masked } = await maskShown(request, secrets, details);
    return { formats, details, digest, masked, request: value };
  }
  const { value: input, masked } = secrets.maskInput(call?.input);
  const error = trouble?.error === undefined ? {} : { error: secrets.maskText(trouble.error) };
  const shown = {
    ...(call && {
      lostCall: { toolCallId: call.toolCallId, toolName: call.toolName, input, ...error },
    }),
    ...(trouble?.failures === undefined ? {} : { stuck: { failures: trouble.failures, ...error } }),
  };
  const { requestId, threadId } = row;
  const digest = await digestShown({ requestId, threadId, ...shown, details });
  return { formats, details, digest, masked, ...shown };
}

/** Finds the formats of the arguments of a row's call, and the secrets that must not leave the server. */
export async function findSecrets(
  inbox: InboxContext,
  { row, request }: RowContent,
): Promise<{ formats: FormattedPath[]; secrets: Secrets }> {
  const { agents, options } = inbox;
  if (request !== undefined) return readSecrets(agents.find(row.agent), request, options.formats);
  const call = parseTrouble(row)?.call;
  if (call === undefined) return { formats: [], secrets: new Secrets([], []) };
  return readLostSecrets(agents.find(row.agent), call, options.formats);
}

/** Makes a function that masks the secrets of a thread's calls where its texts quote them. */
export async function maskSecretsOf(
  { agents, options: { formats: declared } }: InboxContext,
  agent: string | null,
  calls: readonly ToolCallRecord[],
): Promise<(text: string) => string> {
  const all = await Promise.all(
    calls.map(async ({ toolName, input, given, edit }) => {
      const own = { formats: declared };
      const { formats } = await readFormats(agents.find(agent), toolName, own);
      return new Secrets(formats, [input, given, edit?.original]);
    }),
  );
  const some = all.filter(({ isEmpty }) => !isEmpty);
  return (text) => some.reduce((masked, secrets) => secrets.maskText(masked), text);
}

async function maskShown(
  asked: UserInputRequest,
  secrets: Secrets,
  details: readonly InboxDetail[],
): Promise<{ digest: string; value: UserInputRequest; masked: string[][] }> {
  const request = nameAskers(hidePrincipals(asked));
  const { value, masked } = maskRequest(request, secrets, '');
  if (masked.length === 0) {
    return { digest: await digestRequest(request, details), value: request, masked };
  }
  const digest = await digestRequest(value, details);
  return { digest, ...maskRequest(request, secrets, digest) };
}

/* Reduces requesters to name and id: the rest of a principal may be private, such as a token. */
function nameAskers(request: UserInputRequest): UserInputRequest {
  const { requestedBy, requesters } = request;
  return {
    ...request,
    ...(requestedBy === undefined ? {} : { requestedBy: pickName(requestedBy) }),
    ...(requesters && { requesters: requesters.map(pickName) }),
  };
}

function pickName(principal: unknown): unknown {
  if (!isObject(principal)) return principal;
  const named = ['name', ...idFields].flatMap((field): [string, unknown][] => {
    const value = Object.hasOwn(principal, field) ? principal[field] : undefined;
    return typeof value === 'string' || typeof value === 'number' ? [[field, value]] : [];
  });
  return named.length === 0 ? 'somebody' : Object.fromEntries(named);
}

async function digestRequest(
  request: UserInputRequest,
  details: readonly InboxDetail[],
): Promise<string> {
  if (request.type === 'question-request') return digestShown({ request, details });
  return digestShown({ request: omitUnanswered(request), details });
}

async function digestShown(shown: object): Promise<string> {
  return hashText(`holdpoint/inbox-entry/v1\0${stringifySorted(shown)}`);
}

function pickRow(
  row: StoredRequest,
  now: number,
): Omit<
  InboxEntry,
  'requesters' | 'decidedBy' | 'digest' | 'rights' | 'maySettle' | 'formats' | 'details' | 'masked'
> {
  const { requestId, threadId, agent, tenant, kind, toolName, risk, createdAt, expiresAt } = row;
  const { votes, quorum, decidedAt, state } = row;
  const isExpired = state === 'open' && expiresAt !== undefined && expiresAt <= now;
  return {
    requestId,
    threadId,
    agent,
    tenant,
    kind,
    state: isExpired ? 'expired' : state,
    toolName,
    approvers: [...row.approvers],
    risk,
    createdAt,
    ...(expiresAt === undefined ? {} : { expiresAt }),
    votes,
    quorum,
    ...(decidedAt === undefined ? {} : { decidedAt }),
  };
}

const troubleSchema = z.looseObject({
  error: z.string().optional(),
  call: z
    .looseObject({ toolCallId: z.string(), toolName: z.string(), input: z.unknown() })
    .optional(),
  failures: z.number().optional(),
});

/** Parses the row of a lost call or a stuck thread. */
export function parseTrouble({
  kind,
  text,
}: StoredRequest): z.infer<typeof troubleSchema> | undefined {
  if (text === null || (kind !== 'lost-call' && kind !== 'stuck-thread')) return undefined;
  return troubleSchema.safeParse(parseJson(text)).data;
}

/** Makes the app's details about a call. A mistake there must not hide the arguments, nor pass for an empty list. */
async function makeDetails(
  inbox: InboxContext,
  call: { toolName: string; input: unknown } | undefined,
  secrets: Secrets,
): Promise<InboxDetail[]> {
  const { details = {} } = inbox.options;
  if (call === undefined || !Object.hasOwn(details, call.toolName)) return [];
  try {
    const made: unknown = await details[call.toolName]?.(call.input);
    return detailsSchema.parse(secrets.maskTexts(made));
  } catch (error) {
    reportMistake(inbox, `details.${call.toolName}`, error);
    return [{ type: 'text', label: 'Details', text: 'could not be made' }];
  }
}

const detailsSchema = z.array(
  detailSchema.refine((detail) => detail.type !== 'link' || isLink(detail.url), {
    error: 'A link must be an http(s) or mailto URL, or a path.',
  }),
);

function findSourceUrl(
  inbox: InboxContext,
  { threadId, agent, requestId }: StoredRequest,
): string | undefined {
  const { sourceUrl } = inbox.options;
  if (sourceUrl === undefined) return undefined;
  try {
    const url = sourceUrl({ threadId, agent, requestId });
    if (url === undefined || isLink(url)) return url;
    throw new TypeError('It returned what is no http(s) URL and no path.');
  } catch (error) {
    reportMistake(inbox, 'sourceUrl', error);
    return undefined;
  }
}

/* Anything else could run as a script, or lead to another site unnoticed. */
function isLink(url: string): boolean {
  if (/^\/(?![/\\])/.test(url)) return true;
  return URL.canParse(url) && /^(?:https?|mailto):$/.test(new URL(url).protocol);
}
