import type { Attributes, Link } from '@opentelemetry/api';
import type { CallFacts, RequestFacts, TraceMessage } from '../thread/trace-message.ts';

/** What is recorded beside the facts. */
export interface Recording {
  recordInputs: boolean;
  recordOutputs: boolean;
  recordPrincipals: boolean;
}

/** What a span begins with. */
export interface SpanBeginning {
  name: string;
  attributes: Attributes;
  links: Link[];
}

/** The span of a message; `finished` has none, as nothing happens in it. What people, models and tools wrote is there when asked for. */
export function spanOfMessage(
  message: TraceMessage,
  { recordInputs, recordPrincipals }: Recording,
): SpanBeginning | undefined {
  switch (message.type) {
    case 'requested': {
      const kind = isApproval(message) ? 'approval_request' : 'question_request';
      const input = recordInputs ? message.request.toolCall?.input : undefined;
      return spanNamed(kind, message, { 'gen_ai.tool.call.arguments': jsonOf(input) });
    }
    case 'answered': {
      const kind = isApproval(message) ? 'approval_decision' : 'question_answer';
      return spanNamed(kind, message, {
        'holdpoint.decision': message.decision,
        'holdpoint.wait': message.waitedMs / 1000,
        'holdpoint.channel': message.channel,
        'holdpoint.principal': recordPrincipals ? jsonOf(message.principal) : undefined,
      });
    }
    case 'started':
      return spanNamed('execute_tool', message, {
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.call.arguments': recordInputs ? jsonOf(message.input) : undefined,
        'holdpoint.attempt': message.attempt,
      });
    case 'delivered':
      return spanNamed('answer_delivery', message, {});
    case 'indeterminate':
      return spanNamed('indeterminate_call', message, {
        'error.type': 'indeterminate',
        'holdpoint.attempt': message.attempt,
      });
    case 'finished':
      return undefined;
  }
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

type Facts = (RequestFacts | CallFacts) & { follows?: string | undefined };

function spanNamed(kind: string, facts: Facts, attributes: Attributes): SpanBeginning {
  const { threadId, toolName, toolCallId, requestId, follows } = facts;
  const all = {
    'gen_ai.conversation.id': threadId,
    'gen_ai.tool.name': toolName,
    'gen_ai.tool.call.id': toolCallId,
    'holdpoint.request.id': requestId,
    ...attributes,
  };
  const known = Object.entries(all).filter(([, value]) => value !== undefined);
  return {
    name: toolName === undefined ? kind : `${kind} ${toolName}`,
    attributes: Object.fromEntries(known),
    links: follows === undefined ? [] : [linkTo(follows)],
  };
}

/* The log has checked its form. */
function linkTo(traceparent: string): Link {
  const [, traceId = '', spanId = '', flags = ''] = traceparent.split('-');
  return { context: { traceId, spanId, traceFlags: Number.parseInt(flags, 16), isRemote: true } };
}
