import type { Attributes } from '@opentelemetry/api';
import type { InvokedMessage, TraceMessage } from '../thread/tracing.ts';
import {
  isApproval,
  jsonOf,
  known,
  type Recording,
  spanAbout,
  type SpanStart,
} from './span-start.ts';

/** The attributes that are known only at the end of the operation. */
export function attributesAtEnd(
  message: TraceMessage,
  { recordOutputs, recordPrincipals }: Recording,
): Attributes {
  switch (message.type) {
    case 'invoked':
      return known({
        'holdpoint.run.id': message.runId,
        'holdpoint.channel': message.channel,
        'holdpoint.principal': recordPrincipals ? jsonOf(message.principal) : undefined,
        'holdpoint.status': message.status,
        ...responseAttributes(message),
      });
    case 'prompted':
      return known({
        'gen_ai.response.id': message.answer?.id,
        'gen_ai.response.model': message.answer?.modelId,
        ...responseAttributes(message.answer ?? {}),
      });
    case 'started':
      return known({
        'gen_ai.tool.call.result': recordOutputs ? jsonOf(message.result) : undefined,
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

/** The end of a request: answered, or closed without an answer. */
export type EndOfRequest = Extract<TraceMessage, { type: 'answered' | 'closed' }>;

/** The span of the time in which a request was open. */
export function waitSpan(
  message: EndOfRequest,
  { recordPrincipals }: Recording,
): Pick<SpanStart, 'name' | 'attributes'> {
  const kind = isApproval(message) ? 'approval_wait' : 'question_wait';
  return spanAbout(kind, message, {
    'holdpoint.outcome': message.type === 'closed' ? message.cause : message.decision,
    'holdpoint.channel': message.channel,
    'holdpoint.principal': recordPrincipals ? jsonOf(message.principal) : undefined,
  });
}

function responseAttributes({
  finishReason,
  usage,
}: Pick<InvokedMessage, 'finishReason' | 'usage'>): Attributes {
  return {
    'gen_ai.response.finish_reasons': finishReason === undefined ? undefined : [finishReason],
    'gen_ai.usage.input_tokens': usage?.inputTokens,
    'gen_ai.usage.output_tokens': usage?.outputTokens,
  };
}
