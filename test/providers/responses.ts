import type { ScriptedStep } from '../support/script.ts';
import { checkRequest } from './check-request.ts';
import type { ProviderProtocol } from './provider-protocol.ts';
import { responsesStream } from './responses-events.ts';
import { ResponsesItems } from './responses-items.ts';
import { responsesRequestSchema } from './responses-request.ts';
import { itemViolations } from './responses-rules.ts';

/** OpenAI's Responses: what it gave with `store`, it knows by its id; else the client carries it all. */
export function openaiResponses(): ProviderProtocol {
  const items = new ResponsesItems();
  return {
    path: '/v1/responses',
    violations: (body) =>
      checkRequest(body, responsesRequestSchema, ({ input }) => itemViolations(input, items), [
        'mcp_approval_response',
      ]),
    answer: (step, body) => {
      const { store, include } = responsesRequestSchema.parse(body);
      const encrypt = include.includes('reasoning.encrypted_content');
      return response(step, items.give(step, { store, encrypt }));
    },
    stream: responsesStream,
    refusal: (message) => ({
      error: { message, type: 'invalid_request_error', param: 'input', code: null },
    }),
  };
}

function response({ finish }: ScriptedStep, output: object[]): object {
  const reasons = { length: 'max_output_tokens', 'content-filter': 'content_filter' };
  const reason = finish === 'length' || finish === 'content-filter' ? reasons[finish] : undefined;
  return {
    id: 'resp_1',
    object: 'response',
    created_at: 1_790_000_000,
    status: reason === undefined ? 'completed' : 'incomplete',
    error: null,
    incomplete_details: reason === undefined ? null : { reason },
    model: 'gpt-test',
    output,
    usage: {
      input_tokens: 3,
      input_tokens_details: { cached_tokens: 0 },
      output_tokens: 10,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 13,
    },
  };
}
