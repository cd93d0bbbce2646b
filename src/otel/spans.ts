import { type Attributes, type Link, type SpanContext, SpanKind } from '@opentelemetry/api';
import type {
  CallFacts,
  RequestFacts,
  InvokedMessage,
  ModelName,
  PromptedMessage,
  TraceMessage,
} from '../thread/tracing.ts';

/** Which content is recorded. */
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

type MessageOf<TYPE extends TraceMessage['type']> = Extract<TraceMessage, { type: TYPE }>;

/** The span for a message; none for `finished`, which takes no time. Content is recorded only if `recording` says so. */
export function describeSpan(message: TraceMessage, recording: Recording): SpanStart | undefined {
  switch (message.type) {
    case 'invoked':
      return describeRunSpan(message);
    case 'prompted':
      return describeModelSpan(message);
    case 'stepped':
      return describeStepSpan(message);
    case 'requested':
      return describeRequestSpan(message, recording);
    case 'answered':
      return describeAnswerSpan(message, recording);
    case 'closed':
      return makeSpanAbout(isApproval(message) ? 'approval_closed' : 'question_closed', message, {
        'holdpoint.outcome': message.cause,
        'holdpoint.wait': message.waitedMs / 1000,
        'holdpoint.channel': message.channel,
        'holdpoint.principal': recording.recordPrincipals
          ? stringifyOrNothing(message.principal)
          : undefined,
      });
    case 'started':
      return describeToolSpan(message, recording);
    case 'delivered':
      return makeSpanAbout('answer_delivery', message, {});
    case 'indeterminate':
      return makeSpanAbout('indeterminate_call', message, {
        'error.type': 'indeterminate',
        'holdpoint.attempt': message.attempt,
      });
    case 'setting-failed':
      return describeFaultSpan(message);
    case 'finished':
      return undefined;
  }
}

function describeFaultSpan(message: MessageOf<'setting-failed'>): SpanStart {
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

/* Prefixes of the AI SDK's provider names, longest first, and their names in the semantic conventions. Must match `@ai-sdk/otel`, whose spans may be in the same trace. */
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

function describeRequestSpan(
  message: MessageOf<'requested'>,
  { recordInputs }: Recording,
): SpanStart {
  const input = recordInputs ? message.request.toolCall?.input : undefined;
  return makeSpanAbout(isApproval(message) ? 'approval_request' : 'question_request', message, {
    'gen_ai.tool.call.arguments': stringifyOrNothing(input),
  });
}

function describeAnswerSpan(
  message: MessageOf<'answered'>,
  { recordPrincipals }: Recording,
): SpanStart {
  return makeSpanAbout(isApproval(message) ? 'approval_decision' : 'question_answer', message, {
    'holdpoint.decision': message.decision,
    'holdpoint.wait': message.waitedMs / 1000,
    'holdpoint.channel': message.channel,
    'holdpoint.principal': recordPrincipals ? stringifyOrNothing(message.principal) : undefined,
  });
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

/** The end of a request: answered, or closed without an answer. */
export type EndOfRequest = Extract<TraceMessage, { type: 'answered' | 'closed' }>;

/** The span of the time in which a request was open. */
export function waitSpan(
  message: EndOfRequest,
  { recordPrincipals }: Recording,
): Pick<SpanStart, 'name' | 'attributes'> {
  const kind = isApproval(message) ? 'approval_wait' : 'question_wait';
  return makeSpanAbout(kind, message, {
    'holdpoint.outcome': message.type === 'closed' ? message.cause : message.decision,
    'holdpoint.channel': message.channel,
    'holdpoint.principal': recordPrincipals ? stringifyOrNothing(message.principal) : undefined,
  });
}

/** The attributes that are known only at the end of the operation. */
export function listEndAttributes(
  message: TraceMessage,
  { recordOutputs, recordPrincipals }: Recording,
): Attributes {
  switch (message.type) {
    case 'invoked':
      return pickKnown({
        'holdpoint.run.id': message.runId,
        'holdpoint.channel': message.channel,
        'holdpoint.principal': recordPrincipals ? stringifyOrNothing(message.principal) : undefined,
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
        'gen_ai.tool.call.result': recordOutputs ? stringifyOrNothing(message.result) : undefined,
      });
    case 'answered':
    case 'closed':
    case 'delivered':
    case 'finished':
    case 'indeterminate':
    case 'requested':
    case 'setting-failed':
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

type Facts = (RequestFacts | CallFacts) & { follows?: string | undefined };

/** The span of a request or a call, linked to the span that it follows. */
function makeSpanAbout(kind: string, facts: Facts, attributes: Attributes): SpanStart {
  const { threadId, conversationId, toolName, toolCallId, requestId, follows } = facts;
  const start = makeSpan(kind, toolName, {
    'gen_ai.conversation.id': conversationId ?? threadId,
    'holdpoint.thread.id': conversationId === undefined ? undefined : threadId,
    'gen_ai.tool.name': toolName,
    'gen_ai.tool.call.id': toolCallId,
    'holdpoint.request.id': requestId,
    'holdpoint.path': readAgentPath(facts),
    ...attributes,
  });
  return { ...start, links: follows === undefined ? [] : [{ context: parseTraceparent(follows) }] };
}

/** The names of the agents below the thread's own that lead to the one that asks; `undefined` if the thread's own asks. */
function readAgentPath(facts: Facts): string | undefined {
  if (!('request' in facts)) return undefined;
  return facts.request.path?.map(({ agent }) => agent).join(' > ');
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

/** Whether a message is about an approval; otherwise it is about a question. */
export function isApproval({ requestType }: RequestFacts): boolean {
  return requestType === 'approval-request';
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
export function parseTraceparent(traceparent: string): SpanContext {
  const [, traceId = '', spanId = '', flags = ''] = traceparent.split('-');
  return { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true };
}

/** The `traceparent` of a span context. Without an OpenTelemetry SDK it is all zeros, and the thread does not store it. */
export function renderTraceparent({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}
