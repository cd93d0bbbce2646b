import { type Grant, grantSchema } from '../../content/grant.ts';
import type { ToolCall } from '../../content/tool-call.ts';
import type { Asked } from '../../policy/approval-rule.ts';
import { termsDigest } from '../../policy/digest.ts';
import { coversInput, whyTooWide } from '../../policy/match-grant.ts';
import type { ThreadState } from '../../thread/thread-state.ts';
import type { StoredGrant } from '../../thread/thread-store.ts';
import type { GrantSources, GrantUse } from './find-grant.ts';
import type { ToolDefinition } from './tool-definitions.ts';

/** The call for which a grant is needed, and what its rule demands. */
interface GrantCall {
  asked: Asked;
  definition: ToolDefinition;
  toolCall: ToolCall;
}

/**
 * The standing approval for a call: it covers the input, was made for the same definition of the tool and the same terms of the rule, and is
 * not wider than the rule allows now. A rejection comes before an approval, otherwise the oldest comes first.
 */
export async function grantFor(
  sources: GrantSources,
  state: Readonly<ThreadState>,
  { asked, definition, toolCall }: GrantCall,
): Promise<GrantUse | undefined> {
  const { terms = {} } = asked;
  const at = sources.now();
  const digest = await termsDigest(terms);
  const requester = requesterOf(sources, state);
  const stored = await storedGrants(sources, { asked, definition, person: requester });
  const found = [...state.head.grants, ...stored];
  const usable = found.filter(
    ({ grant }) =>
      grant.toolName === definition.name &&
      grant.definition === definition.digest &&
      grant.terms === digest &&
      (grant.expiresAt ?? Infinity) > at &&
      whyTooWide(widthOf(grant), terms.remember) === undefined &&
      coversInput(grant, toolCall.input) &&
      (terms.notRequester !== true || isForOthers(grant, requester)),
  );
  return usable.find(({ grant }) => grant.decision === 'rejected') ?? usable[0];
}

/** The person for whom the agent works, as text; `null` if nobody knows. */
function requesterOf(
  { principalId }: GrantSources,
  { head }: Readonly<ThreadState>,
): string | null {
  if (head.requestedBy === undefined) return null;
  const person = principalId(head.requestedBy);
  return person.trim() === '' ? null : person;
}

/** Whether a grant, whose rule lets nobody approve for themselves, was made by others than the requester. */
function isForOthers({ decision, answeredBy }: Grant, requester: string | null): boolean {
  if (decision === 'rejected') return true;
  return requester !== null && answeredBy?.includes(requester) === false;
}

/** How wide a grant is. Its time and uses were within the limits when it was made, under the same terms. */
function widthOf({ scope, match }: Grant): Parameters<typeof whyTooWide>[0] {
  const kind = match.type === 'fields' ? Object.keys(match.fields) : match.type;
  return { scope, match: kind, expiresAfterMs: 0, uses: 0 };
}

/** The grants of the store for the agent and the tool, for everyone or for the person who asked. */
async function storedGrants(
  { name, now, grants }: GrantSources,
  {
    asked: { terms },
    definition,
    person,
  }: { asked: Asked; definition: ToolDefinition; person: string | null },
): Promise<GrantUse[]> {
  if (grants === undefined || terms?.remember?.scope === 'thread') return [];
  const query = { agent: name ?? null, toolName: definition.name, person, at: now() };
  const found = await grants.find(query);
  return found.flatMap((stored) => usedGrant(stored, person));
}

/* What can't be read, or is for somebody else, decides nothing: a person is asked. */
function usedGrant({ text, usesLeft }: StoredGrant, person: string | null): GrantUse[] {
  const parsed = grantSchema.safeParse(parsedJson(text));
  if (!parsed.success) return [];
  const grant = parsed.data;
  const isMeant =
    grant.scope === 'everyone' || (grant.scope === 'principal' && grant.person === person);
  return isMeant ? [{ grant, usesLeft }] : [];
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
