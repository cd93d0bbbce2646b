import { type Attributes, type Link, SpanKind } from '@opentelemetry/api';
import type { CallFacts, RequestFacts } from '../thread/tracing/trace-message.ts';
import { placeOf } from './place-in-trace.ts';

/** What is recorded beside the facts. */
export interface Recording {
  recordInputs: boolean;
  recordOutputs: boolean;
  recordPrincipals: boolean;
}

/** What a span begins with. */
export interface SpanBeginning {
  name: string;
  kind: SpanKind;
  attributes: Attributes;
  links: Link[];
}

type Facts = (RequestFacts | CallFacts) & { follows?: string | undefined };

/** The span of a request or a call, linked to the span that it follows. */
export function spanAbout(kind: string, facts: Facts, attributes: Attributes): SpanBeginning {
  const { threadId, conversationId, toolName, toolCallId, requestId, follows } = facts;
  const beginning = spanNamed(kind, toolName, {
    'gen_ai.conversation.id': conversationId ?? threadId,
    'holdpoint.thread.id': conversationId === undefined ? undefined : threadId,
    'gen_ai.tool.name': toolName,
    'gen_ai.tool.call.id': toolCallId,
    'holdpoint.request.id': requestId,
    ...attributes,
  });
  return { ...beginning, links: follows === undefined ? [] : [{ context: placeOf(follows) }] };
}

/** A span with the attributes that have a value. */
export function spanNamed(
  kind: string,
  of: string | undefined,
  attributes: Attributes,
): SpanBeginning {
  return {
    name: of === undefined ? kind : `${kind} ${of}`,
    kind: SpanKind.INTERNAL,
    attributes: known(attributes),
    links: [],
  };
}

/** The attributes that have a value. */
export function known(attributes: Attributes): Attributes {
  return Object.fromEntries(Object.entries(attributes).filter(([, value]) => value !== undefined));
}

/** Whether a message is about an approval, and not about a question. */
export function isApproval({ requestType }: RequestFacts): boolean {
  return requestType === 'approval-request';
}

/** The JSON of a value; nothing for what has none. */
export function jsonOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}
