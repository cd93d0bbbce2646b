import type { ThreadEvent, ToolCallRecord } from 'holdpoint';
import { z } from 'zod';
import type { Effect } from './evidence.ts';
import type { ThreadEventOf } from '../../src/thread/thread-event.ts';

const assistantSchema = z.object({ role: z.literal('assistant'), content: z.array(z.unknown()) });
const callSchema = z.object({
  type: z.literal('tool-call'),
  providerExecuted: z.boolean().optional(),
  toolCallId: z.string(),
  toolName: z.string(),
  input: z.unknown(),
});

const providerRequestSchema = z.object({
  type: z.literal('tool-approval-request'),
  toolCallId: z.string(),
  approvalId: z.string(),
});

/** What a log says of one call. Revisions are places in the log, from 1. */
export interface CallHistory {
  /** For sentences. */
  label: string;
  /** Step and index. */
  place: string;
  toolCallId: string;
  toolName: string;
  /** What runs: where a person edited it, the edited input; where its schema made it again, that. */
  input: unknown;
  /** What the model asked for. */
  asked: unknown;
  /** By what the provider asks whether it may run the call. */
  approvalId?: string;
  proposed: number;
  requestIds: string[];
  /** One a request: a request that is answered twice is not two approvals. */
  approved: number[];
  started: number[];
  deferred: number[];
  /** When it was said that nobody knows what became of it. */
  lost: number[];
  /** When a person gave an attempt up, to have the call asked about anew. */
  abandoned: number[];
  ended: number[];
  /** Results that changed nothing any more. */
  late: { at: number; attempt: number }[];
  outcome?: NonNullable<ToolCallRecord['outcome']>;
  /** Who knows the outcome, where the run that started the call does not. */
  source?: ThreadEventOf<'call-ended'>['source'];
}

/**
 * The calls of a log, read off its events by the auditor's own plain reading: sharing the package's fold would
 * share its faults.
 */
export function callHistories(events: readonly ThreadEvent[]): CallHistory[] {
  const reading: Reading = { calls: [], open: new Map(), asked: new Map(), edits: new Map() };
  for (const [index, event] of events.entries()) readEvent(reading, event, index + 1);
  return reading.calls;
}

/**
 * The call that an effect was of. In a damaged log two calls may share an id: the one that started last before the effect
 * is then the one that ran.
 */
export function callOf(
  { toolCallId, revision }: Pick<Effect, 'toolCallId' | 'revision'>,
  calls: readonly CallHistory[],
): CallHistory | undefined {
  const lastStart = ({ started, deferred }: CallHistory): number =>
    Math.max(0, ...[...started, ...deferred].filter((at) => at <= revision));
  return calls
    .filter((call) => call.toolCallId === toolCallId)
    .toSorted((one, other) => lastStart(other) - lastStart(one))
    .at(0);
}

interface Reading {
  calls: CallHistory[];
  /** The calls by their place. */
  open: Map<string, CallHistory>;
  /** The calls by the request about them. */
  asked: Map<string, CallHistory>;
  /** The edited inputs of requests that are not decided yet. */
  edits: Map<string, unknown>;
}

function readEvent(reading: Reading, event: ThreadEvent, revision: number): void {
  switch (event.type) {
    case 'step-finished':
      addCalls(reading, event, revision);
      break;
    case 'request-opened':
      addRequest(reading, event);
      break;
    case 'request-answered':
      answerRequest(reading, event, revision);
      break;
    case 'request-voted':
      if (event.edit) reading.edits.set(event.response.requestId, event.edit.input);
      break;
    case 'vote-withdrawn':
      if (event.endsEdit === true) reading.edits.delete(event.requestId);
      break;
    case 'grant-used':
      if (event.decision === 'approved') {
        reading.open.get(placeKey(event))?.approved.push(revision);
      }
      break;
    case 'input-remade':
      remakeInput(reading, event);
      break;
    case 'call-started':
      reading.open.get(placeKey(event))?.started.push(revision);
      break;
    case 'call-deferred':
      reading.open.get(placeKey(event))?.deferred.push(revision);
      break;
    case 'call-lost':
      reading.open.get(placeKey(event))?.lost.push(revision);
      break;
    case 'call-abandoned':
      reading.open.get(placeKey(event))?.abandoned.push(revision);
      break;
    case 'late-result':
      reading.open.get(placeKey(event))?.late.push({ at: revision, attempt: event.attempt });
      break;
    case 'call-ended':
      endCall(reading, event, revision);
      break;
    default:
      break;
  }
}

function addCalls(
  { calls, open }: Reading,
  { message, step }: ThreadEventOf<'step-finished'>,
  revision: number,
): void {
  /* Parsed, as the auditor reads damaged logs too. */
  const parsed = assistantSchema.safeParse(message);
  const parts = parsed.success ? parsed.data.content : [];
  const requests = parts.flatMap((part) => providerRequestSchema.safeParse(part).data ?? []);
  const asked = new Map(requests.map((request) => [request.toolCallId, request.approvalId]));
  const own = parts
    .flatMap((part) => callSchema.safeParse(part).data ?? [])
    .filter((call) => call.providerExecuted !== true || asked.has(call.toolCallId));
  for (const [index, { toolCallId, toolName, input, providerExecuted }] of own.entries()) {
    const approvalId = providerExecuted === true ? asked.get(toolCallId) : undefined;
    const label = `${toolName} (${step}.${index})`;
    const begun = { requestIds: [], approved: [], started: [], deferred: [] };
    const history = { ...begun, lost: [], abandoned: [], ended: [], late: [] };
    const call = {
      label,
      place: placeKey({ step, index }),
      toolCallId,
      toolName,
      input,
      asked: input,
      ...(approvalId === undefined ? {} : { approvalId }),
      proposed: revision,
      ...history,
    };
    calls.push(call);
    open.set(placeKey({ step, index }), call);
  }
}

function addRequest({ open, asked }: Reading, event: ThreadEventOf<'request-opened'>): void {
  const call = event.place && open.get(placeKey(event.place));
  if (call === undefined) return;
  call.requestIds.push(event.request.requestId);
  asked.set(event.request.requestId, call);
}

function answerRequest(
  { asked, edits }: Reading,
  { response, edit }: ThreadEventOf<'request-answered'>,
  revision: number,
): void {
  const { requestId } = response;
  const call = asked.get(requestId);
  asked.delete(requestId);
  if (response.type !== 'approval-response' || !response.approved || call === undefined) return;
  call.approved.push(revision);
  if (edit !== undefined) edits.set(requestId, edit.input);
  if (edits.has(requestId)) call.input = edits.get(requestId);
}

function remakeInput({ open }: Reading, event: ThreadEventOf<'input-remade'>): void {
  const call = open.get(placeKey(event));
  if (call !== undefined) call.input = event.input;
}

function endCall({ open }: Reading, event: ThreadEventOf<'call-ended'>, revision: number): void {
  const call = open.get(placeKey(event));
  if (call === undefined) return;
  call.ended.push(revision);
  if (call.outcome !== undefined) return;
  call.outcome = event.outcome;
  call.source = event.source;
}

function placeKey({ step, index }: { step: number; index: number }): string {
  return `${step}.${index}`;
}
