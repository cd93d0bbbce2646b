import { type Attributes, type Link, type SpanContext, SpanKind } from '@opentelemetry/api';
import type { CallFacts, RequestFacts } from '../thread/tracing.ts';

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

type Facts = (RequestFacts | CallFacts) & { follows?: string | undefined };

/** The span of a request or a call, linked to the span that it follows. */
export function makeSpanAbout(kind: string, facts: Facts, attributes: Attributes): SpanStart {
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
export function makeSpan(
  kind: string,
  target: string | undefined,
  attributes: Attributes,
): SpanStart {
  return {
    name: target === undefined ? kind : `${kind} ${target}`,
    kind: SpanKind.INTERNAL,
    attributes: pickKnown(attributes),
    links: [],
  };
}

/** The attributes that have a value. */
export function pickKnown(attributes: Attributes): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined));
}

/** Whether a message is about an approval; otherwise it is about a question. */
export function isApproval({ requestType }: RequestFacts): boolean {
  return requestType === 'approval-request';
}

/** The JSON of a value; `undefined` if it has none. */
export function stringifyOrNothing(value: unknown): string | undefined {
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
