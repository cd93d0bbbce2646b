import type { ApprovalRequest } from './approval.ts';
import { describeDeadlineAction } from './deadline-action.ts';
import { inertLine } from './inert-text.ts';
import type { Patch } from './patch.ts';

/** Lines that are safe to show: what a request demands of the people who answer it, what it allows them, and who has answered so far. */
export function renderTerms(request: ApprovalRequest): string[] {
  const { risk, approvers, notRequester, requireReason, editable, metadata, follows } = request;
  return [
    ...(risk === undefined ? [] : [`Risk: ${risk}`]),
    ...(approvers === undefined ? [] : [`May be answered by: ${namesLine(approvers)}`]),
    ...(notRequester === true ? ['Not by the person for whom the agent asks'] : []),
    ...voteLines(request),
    ...(requireReason === true ? ['An approval needs a reason'] : []),
    ...(editable === undefined ? [] : [`May be edited: ${renderEditable(editable)}`]),
    ...renderDeadline(request),
    ...(follows === undefined ? [] : ['Asked again: an earlier request expired unanswered']),
    ...(metadata === undefined ? [] : [`Metadata: ${inertLine(JSON.stringify(metadata))}`]),
    ...editLines(request),
  ];
}

function namesLine(names: readonly string[]): string {
  return names.map((name) => inertLine(name)).join(', ');
}

function renderEditable(editable: NonNullable<ApprovalRequest['editable']>): string {
  return editable === true ? 'the whole input' : namesLine(editable);
}

function voteLines({ quorum, votes = [], reassignments = [] }: ApprovalRequest): string[] {
  const people = votes.map(({ person, onBehalfOf }) =>
    onBehalfOf === undefined
      ? inertLine(person)
      : `${inertLine(person)} (for ${inertLine(onBehalfOf)})`,
  );
  const voted = people.length === 0 ? 'none yet' : people.join(', ');
  return [
    ...(quorum === undefined ? [] : [`Approvals: ${people.length} of ${quorum} (${voted})`]),
    ...reassignments.map(
      ({ from, to }) => `${inertLine(from)} asked ${inertLine(to)} to answer instead`,
    ),
  ];
}

function renderDeadline({ expiresAt, onExpiry, remindAt }: ApprovalRequest): string[] {
  if (expiresAt === undefined) {
    return remindAt === undefined ? [] : [`Reminder: ${renderDate(remindAt)}`];
  }
  return [`Until: ${renderDate(expiresAt)}, then ${describeDeadlineAction(onExpiry).text}`];
}

/* A rule may name a time that is later than any date. */
function renderDate(time: number): string {
  return new Date(Math.min(time, 8.64e15)).toISOString();
}

function editLines({ edit, text }: ApprovalRequest): string[] {
  if (edit === undefined) return [];
  const { original, patches, person } = edit;
  const who = person === undefined ? '' : ` by ${inertLine(person)}`;
  return [
    `Edited${who}:`,
    ...renderPatches(patches, original.input),
    ...(original.text === text ? [] : [`Asked before the edit: ${inertLine(original.text)}`]),
  ];
}

/** What patches change in an input, from what to what. */
function renderPatches(patches: readonly Patch[], original: unknown): string[] {
  return patches.map(({ op, path, value }) => {
    const place =
      path.length === 0 ? 'everything' : path.map((part) => inertLine(String(part))).join('.');
    const before = renderJson(readValueAt(original, path));
    switch (op) {
      case 'remove':
        return `  ${place}: ${before} is removed`;
      case 'add':
        return `  ${place}: ${renderJson(value)} is added`;
      case 'replace':
        return `  ${place}: ${before} → ${renderJson(value)}`;
    }
  });
}

function renderJson(value: unknown): string {
  return inertLine(JSON.stringify(value) ?? 'nothing');
}

function readValueAt(value: unknown, path: Patch['path']): unknown {
  return path.reduce<unknown>(
    (at, part) =>
      typeof at === 'object' && at !== null && Object.hasOwn(at, part)
        ? Reflect.get(at, part)
        : undefined,
    value,
  );
}
