import type { ModelMessage } from 'ai';
import { findNextRequest } from '../../content/deadline-action.ts';
import { pickTerms } from '../../content/approval-terms.ts';
import type { ApprovalRequest } from '../../content/approval.ts';
import { type Requested, describeRequesters, listRequesters } from '../../content/requesters.ts';
import type { SettingFailure, SettingFault } from '../../content/check-settings.ts';
import { parseJson } from '../../json/json-value.ts';
import type { CallPlace, ToolCall } from '../../content/tool-call.ts';
import type { UserInputRequest } from '../../content/user-input.ts';
import { HoldpointError } from '../../errors.ts';
import { type Asked } from '../../policy/user-approval.ts';
import { digestProviderApproval, requestDigest, toCanonicalText } from '../../policy/digest.ts';
import { InputReads, describeUndeclared } from '../../policy/input-reads.ts';
import { isSomebody } from '../../policy/same-person.ts';
import type { ThreadEvent } from '../../thread/thread-event.ts';
import type { DescribeCall } from './call-text.ts';
import { type InputValidation, isChangedBy } from './input-validation.ts';

/** The inputs of every new request. */
export interface RequestMaking extends Requested {
  threadId: string;
  now: () => number;
  generateId: () => string;
  /** The agent's `mayAnswer`; here it only counts whether there is one. */
  mayAnswer: unknown;
  /** Reports what is wrong with a setting. */
  report: (failure: SettingFailure) => void;
}

/** Finds the reason why nobody could ever answer a request with these terms; `undefined` if a person may be able to. */
function whyNobodyAnswers(
  making: Pick<RequestMaking, 'mayAnswer'> & Requested,
  asked: Pick<Asked, 'terms' | 'onExpiry'>,
): string | undefined {
  if (making.mayAnswer === undefined && namesApprovers(asked)) {
    return 'it names approvers, and the agent has no mayAnswer to say who they are';
  }
  if (asked.terms?.notRequester === true && !listRequesters(making).every(isSomebody)) {
    return "it excludes the requester (notRequester), who isn't known: pass the principal with the message";
  }
  return undefined;
}

/** Checks whether a request with these terms is, now or after its deadline, for named approvers. */
export function namesApprovers({
  terms = {},
  onExpiry,
}: Pick<Asked, 'terms' | 'onExpiry'>): boolean {
  const next = onExpiry && findNextRequest(onExpiry);
  return (terms.approvers ?? next?.terms?.approvers) !== undefined;
}

/** Reports a call whose request nobody could ever answer, and says why it fails; `undefined` if a person may be able to. */
export function refuseUnanswerable(
  making: RequestMaking,
  asked: Asked,
  { setting, toolCall }: { setting: string; toolCall: ToolCall | undefined },
): string | undefined {
  const why = whyNobodyAnswers(making, asked);
  if (why === undefined) return undefined;
  const { threadId, report } = making;
  const problem = `Nobody could answer the approval request: ${why}.`;
  report({ threadId, setting, kind: 'unanswerable', problem, toolCall });
  return problem;
}

/** The call that is asked about. */
interface AskedCall {
  toolCall: ToolCall;
  place: CallPlace;
  /** The digest of what will run the call. */
  runnerDigest: string;
  /** The JSON Schema of its input, and the part with the field names, if they are known. */
  inputSchema?: unknown;
  inputNames?: unknown;
}

/**
 * Makes an approval request. Its digest covers all that it shows, and for a call, the call and what will run it. Throws `invalid-input`
 * for an invalid expiry, and for terms on which nobody could answer.
 */
export async function makeRequest(
  making: RequestMaking,
  asked: Asked & { text: string },
  about?: AskedCall,
): Promise<ApprovalRequest> {
  const { threadId, now, generateId } = making;
  const { key, text, reason, terms, follows } = asked;
  const unanswerable = whyNobodyAnswers(making, asked);
  if (unanswerable !== undefined) {
    throw new HoldpointError(
      'invalid-input',
      `Nobody could answer this approval request: ${unanswerable}.`,
    );
  }
  const createdAt = now();
  const request: Omit<ApprovalRequest, 'digest'> = {
    type: 'approval-request',
    requestId: generateId(),
    threadId,
    ...(key === undefined ? {} : { key }),
    /* The text may quote a model, and an unpaired surrogate has no canonical form. */
    text: text.toWellFormed(),
    ...(reason === undefined ? {} : { reason: reason.toWellFormed() }),
    ...(about === undefined ? {} : { toolCall: about.toolCall }),
    ...(terms?.editable === undefined ? {} : carrySchema(about?.inputSchema)),
    ...(about?.inputNames === undefined ? {} : { inputNames: about.inputNames }),
    ...describeRequesters(making),
    createdAt,
    ...computeTimes(createdAt, asked),
    ...terms,
    ...(follows === undefined ? {} : { follows }),
  };
  return { ...request, digest: await requestDigest(request, about?.place, about?.runnerDigest) };
}

/* As long as an input may be. */
const longestSchema = 256 * 1024;

/** The schema of an editable input, as the log keeps it. */
function carrySchema(inputSchema: unknown): Pick<ApprovalRequest, 'inputSchema'> {
  const text = inputSchema === undefined ? undefined : toCanonicalText(inputSchema);
  if (text === undefined || text.length > longestSchema) return {};
  return { inputSchema: parseJson(text) };
}

/** Computes when a request expires and when it is reminded of, and what happens then. */
function computeTimes(
  createdAt: number,
  { expiresAfterMs, onExpiry, remindBeforeMs = 0 }: Asked,
): Pick<ApprovalRequest, 'expiresAt' | 'onExpiry' | 'remindAt'> {
  if (expiresAfterMs === undefined) return {};
  /* JSON would turn it into `null`, and the log would be unreadable. */
  if (!Number.isFinite(expiresAfterMs) || !Number.isFinite(remindBeforeMs)) {
    throw new HoldpointError(
      'invalid-input',
      `expiresAfterMs must be a finite number of milliseconds; got ${expiresAfterMs}.`,
    );
  }
  const expiresAt = createdAt + expiresAfterMs;
  const remindAt = Math.max(createdAt, expiresAt - remindBeforeMs);
  /* A request that keeps waiting has no deadline, only a reminder. */
  if (onExpiry?.type === 'wait') return { remindAt };
  return {
    expiresAt,
    ...(onExpiry === undefined ? {} : { onExpiry }),
    ...(remindBeforeMs > 0 ? { remindAt } : {}),
  };
}

/** The tool, or the provider, that will run a call. An approval is bound to it, as well as to the call. */
export interface Runner {
  /** The default text. */
  text: string | (() => string);
  digest: string;
  /** The tool's name, the schema, field names and validation of its input; absent if only the provider knows. */
  tool?: Pick<OwnTool, 'name' | 'inputSchema' | 'inputNames' | 'validation'>;
}

/** The question about a call for which the rule has no text. */
export function makeDefaultText(toolName: string): string {
  return `The agent wants to call ${toolName}.`;
}

/** A tool that runs its calls here, and whose name a request shows. */
export interface OwnTool {
  name: string;
  tool: { title?: string | undefined };
  digest: string;
  inputSchema: unknown;
  inputNames: unknown;
  validation: InputValidation;
  describeCall?: DescribeCall | undefined;
}

/** A tool of the agent. `messages` are those of the thread, for a tool that describes its calls. */
export function makeOwnRunner(
  { name, tool, digest, inputSchema, inputNames, validation, describeCall }: OwnTool,
  messages?: () => readonly ModelMessage[],
): Runner {
  const text =
    describeCall === undefined || messages === undefined
      ? makeDefaultText(tool.title ?? name)
      : () => describeCall(messages());
  return { text, digest, tool: { name, inputSchema, inputNames, validation } };
}

/** The provider, whose request has this id. */
export async function makeProviderRunner(toolName: string, approvalId: string): Promise<Runner> {
  return {
    text: `The agent wants to call ${toolName}, which the provider runs.`,
    digest: await digestProviderApproval(approvalId),
  };
}

/** Makes the approval request for a call. */
export async function askAbout(
  input: RequestMaking,
  asked: Asked,
  { toolCall, place, runner }: { toolCall: ToolCall; place: CallPlace; runner: Runner },
): Promise<ApprovalRequest> {
  const text = renderAskedText(input, asked, { toolCall, runner });
  const { digest: runnerDigest, tool } = runner;
  const { inputSchema, inputNames } = tool ?? {};
  const about = { toolCall, place, runnerDigest, inputSchema, inputNames };
  const { editable } = asked.terms ?? {};
  const isEditable = editable !== undefined && tool !== undefined;
  const possible = isEditable ? await omitEditable(input, asked, { toolCall, tool }) : asked;
  return makeRequest(input, { ...possible, text }, about);
}

/** Disallows edits where the tool's schema changes every input that it is given: none would be accepted. */
async function omitEditable(
  { threadId, report }: Reporting,
  asked: Asked,
  {
    toolCall,
    tool: { name, validation },
  }: { toolCall: ToolCall; tool: NonNullable<Runner['tool']> },
): Promise<Asked> {
  const isChanged = await isChangedBy(validation.edit, toolCall.input).catch(() => false);
  if (!isChanged) return asked;
  const setting = `toolApproval.${name}`;
  const problem = `The rule marks the input as editable, and the input schema of tool '${name}' changes what it is given, so that no edit could run as a person wrote it.`;
  report({ threadId, setting, kind: 'invalid', problem, toolCall });
  const { editable: _editable, ...terms } = asked.terms ?? {};
  return { ...asked, terms };
}

/** The event that opens a request about a call. The call itself is in the assistant message and is not repeated. */
export function makeOpenedEvent(
  { step, index }: { step: number; index: number },
  request: UserInputRequest,
): ThreadEvent {
  const { toolCall: _stored, ...asked } = request;
  return { type: 'request-opened', at: request.createdAt, place: { step, index }, request: asked };
}

/** The question about an input: the rule's text, or the default. */
export function renderAskedText(
  reporting: Reporting,
  asked: Pick<Asked, 'text'>,
  about: { toolCall: ToolCall; runner: Runner },
): string {
  const rendered = renderRuleText(reporting, asked, about) ?? about.runner.text;
  const text = typeof rendered === 'string' ? rendered : rendered();
  /* The text may quote a model, and an unpaired surrogate has no canonical form. */
  return text.toWellFormed();
}

type Reporting = Pick<RequestMaking, 'threadId' | 'report'>;

/** The rule's text for an input; `undefined` if it has none. A function that fails must not keep the call from being asked about. */
function renderRuleText(
  { threadId, report }: Reporting,
  { text }: Pick<Asked, 'text'>,
  { toolCall, runner: { tool } }: { toolCall: ToolCall; runner: Runner },
): string | undefined {
  if (typeof text !== 'function') return text;
  const name = tool?.name ?? toolCall.toolName;
  const reads = new InputReads(tool?.inputSchema);
  const fail = (fault: SettingFault): undefined => {
    report({ ...fault, threadId, setting: `toolApproval.${name}.text`, toolCall });
  };
  try {
    const made = reads.during(toolCall.input, (input) => Reflect.apply(text, undefined, [input]));
    const problem = describeUndeclared(reads, name);
    if (problem !== undefined) return fail({ kind: 'unknown-field', problem });
    if (typeof made === 'string') return made;
    return fail({ kind: 'invalid', problem: 'It returned no text.' });
  } catch (error) {
    return fail({ kind: 'error', problem: 'It threw an error.', error });
  }
}

/** Repeats the question of a request: the same people must decide, on the same terms. */
export function repeatAsked(request: ApprovalRequest): Asked {
  const { text, reason, createdAt, expiresAt, onExpiry, remindAt, key } = request;
  const deadline = expiresAt ?? remindAt;
  const times =
    deadline === undefined
      ? {}
      : {
          expiresAfterMs: deadline - createdAt,
          onExpiry: expiresAt === undefined ? { type: 'wait' as const } : onExpiry,
          remindBeforeMs: remindAt === undefined ? 0 : deadline - remindAt,
        };
  return { key, text, reason, ...times, terms: pickTerms(request) };
}
