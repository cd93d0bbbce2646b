import { type Attributes, type Link, type SpanContext, SpanKind } from '@opentelemetry/api';
import { isQuiet } from '../thread/quiet-events.ts';
import { findDecisionStatus, isRequestEvent } from '../thread/request-events.ts';
import type {
  AppendedMessage,
  InvokedMessage,
  ModelName,
  PromptedMessage,
  TraceMessage,
  TraceSubject,
} from '../thread/tracing.ts';

/** The content that is recorded. */
export interface Recording {
  recordInputs: boolean;
  recordOutputs: boolean;
  recordPrincipals: boolean;
}

/** The values that a span starts with. */
export interface SpanStart {
  name: string;
  kind: SpanKind;
  attributes: Attributes;
  links: Link[];
}

/** Work that may contain more work: its span is the active one. */
export type WorkMessage = Exclude<TraceMessage, { type: 'appended' | 'setting-failed' }>;

type MessageOf<TYPE extends TraceMessage['type']> = Extract<TraceMessage, { type: TYPE }>;

/** The span of some work. Content is recorded only if `recording` says so. */
export function describeWorkSpan(message: WorkMessage, recording: Recording): SpanStart {
  switch (message.type) {
    case 'invoked':
      return describeRunSpan(message);
    case 'prompted':
      return describeModelSpan(message);
    case 'stepped':
      return describeStepSpan(message);
    case 'started':
      return describeToolSpan(message, recording);
    case 'delivered':
      return makeSpanAbout('answer_delivery', message, {});
  }
}

/** The span of an event, if it has one. Content is recorded only if `recording` says so. */
export function describeEventSpan(
  message: AppendedMessage,
  recording: Recording,
): SpanStart | undefined {
  const { event } = message;
  if (isQuiet(event)) return undefined;
  switch (event.type) {
    case 'request-opened':
      return makeSpanAbout(pickKind(message, 'approval_request', 'question_request'), message, {
        'gen_ai.tool.call.arguments': recording.recordInputs
          ? stringifyOrNothing(message.input)
          : undefined,
      });
    case 'request-answered':
      return makeSpanAbout(pickKind(message, 'approval_decision', 'question_answer'), message, {
        'holdpoint.decision': findDecisionStatus(event),
        'holdpoint.wait': computeWaitMs(message) / 1000,
        ...listPerson(event, recording),
      });
    case 'request-closed':
      return makeSpanAbout(pickKind(message, 'approval_closed', 'question_closed'), message, {
        'holdpoint.outcome': event.cause,
        'holdpoint.wait': computeWaitMs(message) / 1000,
        ...listPerson(event, recording),
      });
    case 'call-lost':
      return makeSpanAbout('indeterminate_call', message, {
        'error.type': 'indeterminate',
        'holdpoint.attempt': message.attempt,
      });
    case 'message-added':
    case 'message-retracted':
    case 'step-finished':
    case 'request-voted':
    case 'vote-withdrawn':
    case 'request-reassigned':
    case 'grant-used':
    case 'input-remade':
    case 'call-started':
    case 'call-deferred':
    case 'call-ended':
      return undefined;
  }
}

/** The span of a mistake in a setting. */
export function describeFaultSpan(message: MessageOf<'setting-failed'>): SpanStart {
  const { threadId, conversationId, agentName, setting, kind, toolName, toolCallId } = message;
  return makeSpan('setting_failed', setting, {
    'gen_ai.conversation.id': conversationId ?? threadId,
    'gen_ai.agent.name': agentName,
    'gen_ai.tool.name': toolName,
    'gen_ai.tool.call.id': toolCallId,
    'holdpoint.setting': setting,
    'error.type': kind,
  });
}

function describeRunSpan(message: InvokedMessage): SpanStart {
  return makeSpan('invoke_agent', message.agentName, {
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.agent.name': message.agentName,
    ...listModelAttributes(message),
  });
}

function describeModelSpan(message: PromptedMessage): SpanStart {
  const start = makeSpan('chat', message.modelId, {
    'gen_ai.operation.name': 'chat',
    ...listModelAttributes(message),
    'holdpoint.step': message.step,
  });
  return { ...start, kind: SpanKind.CLIENT };
}

function describeStepSpan({ agentName, threadId, step }: MessageOf<'stepped'>): SpanStart {
  return makeSpan('custom_step', agentName, {
    'gen_ai.conversation.id': threadId,
    'gen_ai.agent.name': agentName,
    'holdpoint.step': step,
  });
}

function listModelAttributes({
  threadId,
  provider,
  modelId,
}: Partial<ModelName> & { threadId: string }): Attributes {
  return {
    'gen_ai.conversation.id': threadId,
    'gen_ai.provider.name': provider === undefined ? undefined : toProviderName(provider),
    'gen_ai.request.model': modelId,
  };
}

/*
 * Prefixes of the AI SDK's provider names, longest first, and their names in the semantic conventions. Must match `@ai-sdk/otel`, whose
 * spans may be in the same trace.
 */
const conventionNames: readonly (readonly [string, string])[] = [
  ['google.vertex', 'gcp.vertex_ai'],
  ['google-vertex', 'gcp.vertex_ai'],
  ['google', 'gcp.gemini'],
  ['vertex', 'gcp.vertex_ai'],
  ['amazon-bedrock', 'aws.bedrock'],
  ['bedrock', 'aws.bedrock'],
  ['azure', 'azure.ai.inference'],
  ['mistral', 'mistral_ai'],
  ['moonshotai', 'moonshot_ai'],
  ['xai', 'x_ai'],
];

/** The `gen_ai.provider.name` of a provider of the AI SDK, such as `openai.responses`. */
function toProviderName(provider: string): string {
  const found = conventionNames.find(
    ([start]) => provider === start || provider.startsWith(`${start}.`),
  );
  return found?.[1] ?? provider.split('.')[0] ?? provider;
}

/* In the semantic conventions, a tool that runs in this process is a `function`; an `extension` runs at the provider. */
function describeToolSpan(message: MessageOf<'started'>, { recordInputs }: Recording): SpanStart {
  return makeSpanAbout('execute_tool', message, {
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.type': 'function',
    'gen_ai.tool.description': message.description,
    'gen_ai.tool.call.arguments': recordInputs ? stringifyOrNothing(message.input) : undefined,
    'holdpoint.attempt': message.attempt,
  });
}

/** The span of the time in which a request was open. It starts in the past, possibly in another process. */
interface WaitSpan extends Pick<SpanStart, 'name' | 'attributes'> {
  startTime: Date;
  endTime: Date;
  /** The span of the request. */
  parent: SpanContext | undefined;
}

/** Describes the wait that an event ends, if it ends one. */
export function describeWaitSpan(
  message: AppendedMessage,
  recording: Recording,
): WaitSpan | undefined {
  const { event, request, follows, wasAnswered } = message;
  if (request === undefined || wasAnswered || !isRequestEvent(event, 'ends')) return undefined;
  const { name, attributes } = makeSpanAbout(
    pickKind(message, 'approval_wait', 'question_wait'),
    message,
    { 'holdpoint.outcome': findDecisionStatus(event), ...listPerson(event, recording) },
  );
  return {
    name,
    attributes,
    /* Dates, because OpenTelemetry takes a number from before the process started for milliseconds since that start. */
    startTime: new Date(request.createdAt),
    endTime: new Date(request.createdAt + computeWaitMs(message)),
    parent: follows === undefined ? undefined : parseTraceparent(follows),
  };
}

/** The time to a person's decision about an approval, in seconds, and its attributes; `undefined` for all else. */
export function measureDecision(
  message: AppendedMessage,
): { seconds: number; attributes: Attributes } | undefined {
  const { event, request, toolName } = message;
  if (event.type !== 'request-answered' || request?.type !== 'approval-request') return undefined;
  /* A sub-agent's request is measured in the child thread. */
  if (request.path !== undefined) return undefined;
  const attributes = {
    'holdpoint.decision': findDecisionStatus(event),
    'gen_ai.tool.name': toolName,
  };
  return { seconds: computeWaitMs(message) / 1000, attributes: pickKnown(attributes) };
}

/** The time from the request to an event about it. Clocks differ. */
function computeWaitMs({ event, request }: AppendedMessage): number {
  return request === undefined ? 0 : Math.max(0, event.at - request.createdAt);
}

/** The person who did something, and the channel. */
function listPerson(
  { channel, principal }: { channel?: string | undefined; principal?: unknown },
  { recordPrincipals }: Recording,
): Attributes {
  return {
    'holdpoint.channel': channel,
    'holdpoint.principal': recordPrincipals ? stringifyOrNothing(principal) : undefined,
  };
}

/** The attributes that are known only at the end of the work. */
export function listEndAttributes(message: WorkMessage, recording: Recording): Attributes {
  switch (message.type) {
    case 'invoked':
      return pickKnown({
        'holdpoint.run.id': message.runId,
        ...listPerson(message, recording),
        'holdpoint.status': message.status,
        ...listResponseAttributes(message),
      });
    case 'prompted':
      return pickKnown({
        'gen_ai.response.id': message.answer?.id,
        'gen_ai.response.model': message.answer?.modelId,
        ...listResponseAttributes(message.answer ?? {}),
      });
    case 'started':
      return pickKnown({
        'gen_ai.tool.call.result': recording.recordOutputs
          ? stringifyOrNothing(message.result)
          : undefined,
      });
    case 'delivered':
    case 'stepped':
      return {};
  }
}

function listResponseAttributes({
  finishReason,
  usage,
}: Pick<InvokedMessage, 'finishReason' | 'usage'>): Attributes {
  return {
    'gen_ai.response.finish_reasons': finishReason === undefined ? undefined : [finishReason],
    'gen_ai.usage.input_tokens': usage?.inputTokens,
    'gen_ai.usage.output_tokens': usage?.outputTokens,
  };
}

/** The span of a request or a call, linked to the span that it follows. */
function makeSpanAbout(kind: string, subject: TraceSubject, attributes: Attributes): SpanStart {
  const { threadId, conversationId, toolName, toolCallId, requestId, request, follows } = subject;
  const start = makeSpan(kind, toolName, {
    'gen_ai.conversation.id': conversationId ?? threadId,
    'holdpoint.thread.id': conversationId === undefined ? undefined : threadId,
    'gen_ai.tool.name': toolName,
    'gen_ai.tool.call.id': toolCallId,
    'holdpoint.request.id': requestId,
    /* The names of the agents below the thread's own that lead to the one that asks. */
    'holdpoint.path': request?.path?.map(({ agent }) => agent).join(' > '),
    ...attributes,
  });
  return { ...start, links: follows === undefined ? [] : [{ context: parseTraceparent(follows) }] };
}

/** A span named `{kind} {target}`, with those attributes that have a value. */
function makeSpan(kind: string, target: string | undefined, attributes: Attributes): SpanStart {
  return {
    name: target === undefined ? kind : `${kind} ${target}`,
    kind: SpanKind.INTERNAL,
    attributes: pickKnown(attributes),
    links: [],
  };
}

/** The attributes that have a value. */
function pickKnown(attributes: Attributes): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined));
}

/** The kind of a span about a request. */
function pickKind({ request }: TraceSubject, ofApproval: string, ofQuestion: string): string {
  return request?.type === 'approval-request' ? ofApproval : ofQuestion;
}

/** The JSON of a value; `undefined` if it has none. */
function stringifyOrNothing(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

/** The span context of a `traceparent`, which must be valid: the log checks it. */
function parseTraceparent(traceparent: string): SpanContext {
  const [, traceId = '', spanId = '', flags = ''] = traceparent.split('-');
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
}

/** The `traceparent` of a span context. Without an OpenTelemetry SDK it is all zeros, and the thread does not store it. */
export function renderTraceparent({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}
