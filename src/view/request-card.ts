import type { ApprovalRequest } from '../content/approval.ts';
import { describeDeadlineAction } from '../content/deadline-action.ts';
import { describeDeadline, describeDuration, type TimeReader } from '../content/deadline-words.ts';
import { inertLine, inertNames, inertText, quoteInertLine } from '../content/inert-text.ts';
import { lookAlikeWarnings } from '../content/look-alikes.ts';
import type { QuestionRequestContent } from '../content/question.ts';
import { renderAnswerer, renderRemember, renderRequesters } from '../content/request-text.ts';
import type { Patch, RequestPath, ToolCall } from '../content/tool-call.ts';
import type { UserInputRequest } from '../content/user-input.ts';
import type { Vote } from '../content/vote.ts';

/**
 * A request as people are shown it, on every channel, as plain data. Texts of a model or a person (the title, the call, quotes and values
 * of facts) are not safe to show: a channel makes them inert in its own form. All other texts are safe.
 */
export interface RequestCard {
  /** The question. */
  title: string;
  /** The call that will run. Absent for a question, and for a request without a call. */
  call?: Pick<ToolCall, 'toolName' | 'input'>;
  /** Everything else, in the order in which people read it. */
  facts: readonly CardFact[];
  /** The warnings about look-alikes; mostly none. */
  warnings: readonly string[];
}

/** One fact about a request. */
export interface CardFact {
  name: FactName;
  /** The name that people are shown. */
  label: string;
  parts: readonly FactPart[];
}

/** A text that is safe to show, a time in milliseconds since 1970, what a person or a rule has written, or any JSON. */
type FactPart =
  | string
  | { type: 'time'; at: number }
  | { type: 'quote'; text: string }
  | { type: 'json'; value: unknown };

type FactName =
  | 'reason'
  | 'agents'
  | 'requesters'
  | 'target'
  | 'risk'
  | 'approvers'
  | 'approvals'
  | 'vote'
  | 'reassignment'
  | 'needed-reason'
  | 'editable'
  | 'deadline'
  | 'reminder'
  | 'start'
  | 'follows'
  | 'metadata'
  | 'editor'
  | 'change'
  | 'original-text'
  | 'masked';

/** The facts that a channel knows besides the request. */
interface CardContext {
  /** The number of arguments that it masks. Default: none. */
  masked?: number;
  /** The warnings about look-alikes, if the channel finds them itself. */
  warnings?: readonly string[];
}

/** Makes the card of a request that a channel is about to show, without what the channel masks. */
export function makeRequestCard(
  request: UserInputRequest,
  { masked = 0, warnings = lookAlikeWarnings(request) }: CardContext = {},
): RequestCard {
  const { text: title } = request;
  const hidden = masked === 1 ? '1 argument' : `${masked} arguments`;
  const shown = { title, facts: listFacts(request), warnings };
  if (masked > 0) shown.facts.push(makeFact('masked', 'Secrets', `${hidden} can’t be shown here`));
  if (request.type === 'question-request') return shown;
  const { toolCall } = request;
  if (toolCall === undefined) return shown;
  return { ...shown, call: { toolName: toolCall.toolName, input: toolCall.input } };
}

/** A fact as one line; what people wrote may have more lines, which are indented. Times are in ISO 8601 unless the reader is known. */
export function renderFact({ label, parts }: CardFact, reader?: TimeReader): string {
  return `${label}: ${parts.map((part) => renderPart(part, reader)).join('')}`;
}

/** Renders a card without its title and its call, as lines that are safe to show. */
export function renderCardLines({ facts, warnings }: RequestCard, reader?: TimeReader): string[] {
  return [...facts.map((fact) => renderFact(fact, reader)), ...warnings];
}

function renderPart(part: FactPart, reader: TimeReader | undefined): string {
  if (typeof part === 'string') return part;
  switch (part.type) {
    case 'time':
      return reader === undefined ? renderDate(part.at) : describeDeadline(part.at, reader);
    case 'quote':
      /* A second line must not read like the next fact. */
      return inertText(part.text).replaceAll('\n', '\n  ');
    case 'json':
      return renderJson(part.value);
  }
}

/* A rule may name a time that is later than any date. */
function renderDate(time: number): string {
  return new Date(Math.min(time, 8.64e15)).toISOString();
}

function renderJson(value: unknown): string {
  return inertLine(JSON.stringify(value) ?? 'nothing');
}

type Describe<REQUEST> = (request: REQUEST) => CardFact[];

function listFacts(request: UserInputRequest): CardFact[] {
  return request.type === 'question-request'
    ? Object.values(questionFacts).flatMap((describe) => describe(request))
    : Object.values(approvalFacts).flatMap((describe) => describe(request));
}

const describeNothing = (): CardFact[] => [];

/* In the order in which people read them. A member that a request gets later does not compile before it is here. */
const approvalFacts: Record<keyof ApprovalRequest, Describe<ApprovalRequest>> = {
  reason: ({ reason }) =>
    reason === undefined ? [] : [makeFact('reason', 'Why', { type: 'quote', text: reason })],
  path: describeAgents,
  requesters: describeRequesters,
  risk: ({ risk }) => (risk === undefined ? [] : [makeFact('risk', 'Risk', risk)]),
  approvers: ({ approvers, notRequester }) => {
    const names = approvers && inertNames(approvers);
    if (notRequester === undefined)
      return names === undefined ? [] : [makeFact('approvers', 'May be answered by', names)];
    const who = names === undefined ? 'anyone but' : `${names}, but not`;
    return [
      makeFact('approvers', 'May be answered by', `${who} the person for whom the agent asks`),
    ];
  },
  quorum: ({ quorum, votes = [] }) =>
    quorum === undefined
      ? []
      : [makeFact('approvals', 'Approvals', `${votes.length} of ${quorum}`)],
  votes: ({ votes = [] }) => votes.map(describeVote),
  reassignments: ({ reassignments = [] }) =>
    reassignments.map(({ from, to }) => {
      const words = `${inertLine(from)} asked ${inertLine(to)} to answer instead`;
      return makeFact('reassignment', 'Reassigned', words);
    }),
  requireReason: ({ requireReason }) =>
    requireReason === undefined ? [] : [makeFact('needed-reason', 'Reason', 'needed to approve')],
  editable: ({ editable }) =>
    editable === undefined ? [] : [makeFact('editable', 'May be edited', renderEditable(editable))],
  expiresAt: ({ expiresAt, onExpiry }) =>
    expiresAt === undefined
      ? []
      : [
          makeFact(
            'deadline',
            'Until',
            { type: 'time', at: expiresAt },
            `, then ${describeDeadlineAction(onExpiry).text}`,
          ),
        ],
  remindAt: ({ remindAt }) =>
    remindAt === undefined
      ? []
      : [makeFact('reminder', 'Reminder', { type: 'time', at: remindAt })],
  startWithinMs: ({ startWithinMs }) =>
    startWithinMs === undefined
      ? []
      : [
          makeFact(
            'start',
            'Starts',
            `within ${describeDuration(startWithinMs)} of the approval, or it is asked again`,
          ),
        ],
  follows: ({ follows }) =>
    follows === undefined
      ? []
      : [makeFact('follows', 'Asked again', 'an earlier request expired unanswered')],
  metadata: describeMetadata,
  edit: describeEdit,
  /* The title, the call, the members that are shown with another one, and those that only programs read. */
  text: describeNothing,
  toolCall: describeNothing,
  requestedBy: describeNothing,
  notRequester: describeNothing,
  onExpiry: describeNothing,
  remember: describeNothing,
  wasEdited: describeNothing,
  type: describeNothing,
  requestId: describeNothing,
  threadId: describeNothing,
  key: describeNothing,
  inputSchema: describeNothing,
  inputNames: describeNothing,
  digest: describeNothing,
  createdAt: describeNothing,
};

const questionFacts: Record<keyof QuestionRequestContent, Describe<QuestionRequestContent>> = {
  /* The tool that a confirmation is about. A yes to it does not approve a call. */
  metadata: ({ kind, metadata }) => {
    const target = metadata?.['target_tool'];
    const isNamed = kind === 'confirmation' && typeof target === 'string';
    return isNamed ? [makeFact('target', 'Tool', { type: 'quote', text: target })] : [];
  },
  path: describeAgents,
  requesters: describeRequesters,
  expiresAt: ({ expiresAt }) =>
    expiresAt === undefined ? [] : [makeFact('deadline', 'Until', { type: 'time', at: expiresAt })],
  /* The title, the form, and what only programs read. */
  text: describeNothing,
  fields: describeNothing,
  kind: describeNothing,
  allowDismiss: describeNothing,
  dismissAnswer: describeNothing,
  toolCall: describeNothing,
  requestedBy: describeNothing,
  type: describeNothing,
  requestId: describeNothing,
  threadId: describeNothing,
  key: describeNothing,
  createdAt: describeNothing,
};

function makeFact(name: FactName, label: string, ...parts: FactPart[]): CardFact {
  return { name, label, parts };
}

/**
 * The path to a sub-agent, outermost first. A name that contains other characters than letters, digits, spaces, `_`, `.` and `-` is quoted,
 * so that it can't imitate a longer path.
 */
function describeAgents({ path }: { path?: RequestPath | undefined }): CardFact[] {
  if (path === undefined) return [];
  const names = path.map(({ agent }) =>
    /^[\p{L}\p{N}_ .-]+$/u.test(agent) ? agent : quoteInertLine(agent),
  );
  return [makeFact('agents', 'Asked by', names.join(' > '))];
}

function describeRequesters(request: UserInputRequest): CardFact[] {
  const requesters = renderRequesters(request);
  return requesters === undefined ? [] : [makeFact('requesters', 'Asked for by', requesters)];
}

function describeVote({ at, reason, remember, ...voter }: Vote): CardFact {
  return makeFact(
    'vote',
    'Approved by',
    `${renderAnswerer(voter)}, `,
    { type: 'time', at },
    ...(remember === undefined ? [] : [`, also later calls: ${renderRemember(remember)}`]),
    ...(reason === undefined ? [] : [': ', { type: 'quote', text: reason } as const]),
  );
}

function describeMetadata({ metadata }: Pick<ApprovalRequest, 'metadata'>): CardFact[] {
  if (metadata === undefined) return [];
  return [makeFact('metadata', 'Metadata', { type: 'json', value: metadata })];
}

function describeEdit({ edit, toolCall, text }: ApprovalRequest): CardFact[] {
  if (edit === undefined) return [];
  const { original, patches, person = 'somebody', onBehalfOf, at } = edit;
  const editor = `${renderAnswerer({ person, onBehalfOf })}, `;
  return [
    makeFact('editor', 'Edited by', editor, { type: 'time', at }),
    ...patches.map((patch) =>
      makeFact('change', 'Changed', renderChange(patch, original.input, toolCall?.input)),
    ),
    ...(original.text === text
      ? []
      : [makeFact('original-text', 'Asked before the edit', inertLine(original.text))]),
  ];
}

/* Where secrets are masked, a patch has no value. */
function renderChange({ op, path, value }: Patch, original: unknown, edited: unknown): string {
  const place =
    path.length === 0 ? 'everything' : path.map((part) => inertLine(String(part))).join('.');
  const before = renderJson(readValueAt(original, path));
  const after = renderJson(value === undefined ? readValueAt(edited, path) : value);
  switch (op) {
    case 'remove':
      return `${place}: ${before} is removed`;
    case 'add':
      return `${place}: ${after} is added`;
    case 'replace':
      return `${place}: ${before} → ${after}`;
  }
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

function renderEditable(editable: NonNullable<ApprovalRequest['editable']>): string {
  return editable === true ? 'the whole input' : inertNames(editable);
}
