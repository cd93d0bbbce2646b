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
  const found = [...state.head.grants, ...(await storedGrants(sources, state, asked, definition))];
  const usable = found.filter(
    ({ grant }) =>
      grant.toolName === definition.name &&
      grant.definition === definition.digest &&
      grant.terms === digest &&
      (grant.expiresAt ?? Infinity) > at &&
      whyTooWide(widthOf(grant), terms.remember) === undefined &&
      coversInput(grant, toolCall.input),
  );
  return usable.find(({ grant }) => grant.decision === 'rejected') ?? usable[0];
}

/** How wide a grant is. Its time and uses were within the limits when it was made, under the same terms. */
function widthOf({ scope, match }: Grant): Parameters<typeof whyTooWide>[0] {
  const kind = match.type === 'fields' ? Object.keys(match.fields) : match.type;
  return { scope, match: kind, expiresAfterMs: 0, uses: 0 };
}

/** The grants of the store for the agent and the tool, for everyone or for the person who asked. */
async function storedGrants(
  { name, now, grants, principalId }: GrantSources,
  { head }: Readonly<ThreadState>,
  { terms }: Asked,
  definition: ToolDefinition,
): Promise<GrantUse[]> {
  if (grants === undefined || terms?.remember?.scope === 'thread') return [];
  const person = head.requestedBy === undefined ? null : principalId(head.requestedBy);
  const query = { agent: name ?? null, toolName: definition.name, person, at: now() };
  const found = await grants.find(query);
  return found.flatMap((stored) => usedGrant(stored, person));
}

/* What can't be read, or is for somebody else, decides nothing: a person is asked. */
function usedGrant({ text, usesLeft = Infinity }: StoredGrant, person: string | null): GrantUse[] {
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
