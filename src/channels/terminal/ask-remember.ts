import type { ApprovalRequest } from '../../content/approval.ts';
import { grantScopes, type Remember } from '../../content/approval-terms.ts';
import { inertLine } from '../../content/inert-text.ts';
import { type Requested, requestersOf } from '../../content/requesters.ts';
import type { Dialog } from './dialog.ts';

/** Lets a person choose which later calls an answer decides, the narrowest first; `undefined` if they go back. */
export async function askRemember(
  request: ApprovalRequest,
  dialog: Dialog,
  verb: 'Approve' | 'Reject',
): Promise<Remember | undefined> {
  const { remember: allowed } = request;
  if (allowed === undefined) return undefined;
  const choices = narrowerThan(allowed);
  const entries = choices.map((choice) => ({
    label: `${verb} ${describeChoice(choice, request)}`,
    isYes: verb === 'Approve',
  }));
  dialog.announce();
  const picked = await dialog.pick({
    entries,
    start: 0,
    takesText: false,
    exit: 'back',
    isNumbered: false,
    decides: true,
    enter: 'send',
  });
  return picked === undefined || !('index' in picked) ? undefined : choices[picked.index];
}

function narrowerThan(allowed: Remember): Remember[] {
  const matches =
    allowed.match === 'exact' ? (['exact'] as const) : (['exact', allowed.match] as const);
  const scopes = grantScopes.slice(0, grantScopes.indexOf(allowed.scope) + 1);
  return matches.flatMap((match) => scopes.map((scope) => ({ ...allowed, scope, match })));
}

/** What a choice covers, in words. */
function describeChoice(
  { scope, match, uses, expiresAfterMs }: Remember,
  { toolCall, ...requested }: ApprovalRequest,
): string {
  const { toolName = '', input } = toolCall ?? {};
  const calls = `${inertLine(toolName)} ${matchText(match, input)}`;
  const whose = {
    thread: 'in this thread',
    principal: forWhom(requested),
    everyone: 'for everyone',
  };
  const limits = [
    ...(uses === undefined ? [] : [`${uses} times`]),
    ...(expiresAfterMs === undefined ? [] : [`for ${Math.ceil(expiresAfterMs / 60_000)} minutes`]),
  ];
  return [`every ${calls}`, whose[scope], ...limits].join(', ');
}

function forWhom(requested: Requested): string {
  const known = requestersOf(requested).filter((requester) => requester !== null);
  const names = known.map((requester) => inertLine(JSON.stringify(requester)));
  return names.length === 0 ? 'for the same person' : `for ${names.join(' and ')}`;
}

function matchText(match: Remember['match'], input: unknown): string {
  if (match === 'any') return 'with any input';
  if (match === 'exact') return 'with this input';
  const isObject = typeof input === 'object' && input !== null;
  const fields = new Map<string, unknown>(isObject ? Object.entries(input) : []);
  const named = match.map(
    (name) => `${inertLine(name)} ${inertLine(JSON.stringify(fields.get(name)) ?? 'absent')}`,
  );
  return `with ${named.join(', ')}`;
}
