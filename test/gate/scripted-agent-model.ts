import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { makeRandomId } from '../../src/content/crypto.ts';
import { z } from 'zod';

/*
 * A model on this machine for coding agents: at first it calls the tool whose name ends with `pay`, again whenever the result is pending, and then
 * says what the result was. It speaks Anthropic's Messages API and OpenAI's Responses API, as far as the agents need them.
 */
const input = { to: 'ACME', euros: 100 };

const messagesSchema = z.object({
  model: z.string(),
  stream: z.boolean().optional(),
  tools: z.array(z.object({ name: z.string() })).optional(),
  messages: z.array(z.object({ content: z.unknown() })),
});
const responsesSchema = z.object({
  tools: z.array(
    z.looseObject({
      name: z.string().optional(),
      tools: z.array(z.looseObject({ name: z.string() })).optional(),
    }),
  ),
  input: z.array(z.looseObject({ type: z.string().optional(), output: z.unknown().optional() })),
});
const resultSchema = z.array(
  z.looseObject({ type: z.literal('tool_result'), content: z.unknown() }),
);

/** What the model says after a result; `undefined`: it calls again. */
type SayAfter = (result: string) => string | undefined;

const sayResult: SayAfter = (result) =>
  result.includes('Pending') ? undefined : `The result: ${result}`;

/** Starts it. `results` are the results of the calls, as text. */
export async function startAgentModel(sayAfter: SayAfter = sayResult) {
  const results: string[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const { url = '' } = request;
      if (url.includes('/messages?') || url.endsWith('/messages'))
        reply(JSON.parse(body), response);
      else if (url.endsWith('/responses')) respond(JSON.parse(body), response);
      else response.setHeader('content-type', 'application/json').end('{"data":[],"models":[]}');
    });
  });
  const decide = (result: string | undefined, hasTool: boolean): string => {
    if (result === undefined) return hasTool ? 'call' : 'There is no such tool.';
    results.push(result);
    return sayAfter(result) ?? 'call';
  };
  const reply = (json: unknown, response: ServerResponse): void => {
    const { model, tools = [], messages } = messagesSchema.parse(json);
    const tool = tools.find(({ name }) => name.endsWith('pay'));
    const found = resultSchema.safeParse(messages.at(-1)?.content).data?.at(-1);
    const decided = decide(found && JSON.stringify(found.content), tool !== undefined);
    const isCall = decided === 'call';
    const block = isCall
      ? { type: 'tool_use', id: `toolu_${makeRandomId()}`, name: tool?.name, input: {} }
      : { type: 'text', text: '' };
    const delta = isCall
      ? { type: 'input_json_delta', partial_json: JSON.stringify(input) }
      : { type: 'text_delta', text: decided };
    const usage = { input_tokens: 1, output_tokens: 1 };
    const message = { id: 'msg_1', type: 'message', role: 'assistant', model, content: [], usage };
    sendEvents(response, [
      { type: 'message_start', message: { ...message, stop_reason: null, stop_sequence: null } },
      { type: 'content_block_start', index: 0, content_block: block },
      { type: 'content_block_delta', index: 0, delta },
      { type: 'content_block_stop', index: 0 },
      {
        type: 'message_delta',
        delta: { stop_reason: isCall ? 'tool_use' : 'end_turn', stop_sequence: null },
        usage,
      },
      { type: 'message_stop' },
    ]);
  };
  const respond = (json: unknown, response: ServerResponse): void => {
    const { tools, input: items } = responsesSchema.parse(json);
    const names = tools.flatMap(({ name, tools: inner }) =>
      inner === undefined
        ? [{ name }]
        : inner.map((each) => ({ name: each.name, namespace: name })),
    );
    const tool = names.find(({ name }) => name?.endsWith('pay') === true);
    const found = items.findLast(({ type }) => type === 'function_call_output');
    const decided = decide(found && JSON.stringify(found.output), tool !== undefined);
    const call = { type: 'function_call', call_id: `call_${makeRandomId()}`, ...tool };
    const text = { type: 'message', role: 'assistant', id: 'm' };
    const item =
      decided === 'call'
        ? { ...call, arguments: JSON.stringify(input) }
        : { ...text, content: [{ type: 'output_text', text: decided }] };
    const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
    sendEvents(response, [
      { type: 'response.created', response: { id: 'r' } },
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: { id: 'r', usage } },
    ]);
  };
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  return { url: `http://127.0.0.1:${port}`, results, close: () => server.close() };
}

function sendEvents(
  response: ServerResponse,
  events: readonly ({ type: string } & Record<string, unknown>)[],
): void {
  response.setHeader('content-type', 'text/event-stream');
  for (const event of events)
    response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  response.end();
}
