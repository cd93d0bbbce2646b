import { EventSchemas, HttpAgent, type Interrupt } from '@ag-ui/client-0.0.x';
import { createParser } from 'eventsource-parser';
import { url } from './ag-ui-site.ts';

/** The route that the client runs. */
type Handler = (request: Request) => Promise<Response>;
/** An event as the older protocol has it. */
type OlderEvent = ReturnType<typeof EventSchemas.parse>;

/** The client package that released CopilotKit pins: it sends no `protocolVersion`, and rejects outcomes that it does not know. */
export function olderClient(handler: Handler) {
  const posted: unknown[] = [];
  const streams: Promise<string>[] = [];
  const agent = new HttpAgent({
    url,
    threadId: 't',
    fetch: async (_url, init) => {
      const request = new Request(url, init);
      posted.push(await request.clone().json());
      const response = await handler(request);
      streams.push(response.clone().text());
      return response;
    },
  });
  let runs = 0;
  /** One run: its events, each read by the older schemas, and what `runAgent` gives. */
  const run = async (parameters: Parameters<HttpAgent['runAgent']>[0] = {}) => {
    runs += 1;
    const { result } = await agent.runAgent({ runId: `r${runs}`, ...parameters });
    const events = olderEvents((await streams.at(-1)) ?? '');
    return { events, result, last: events.at(-1) };
  };
  let said = 0;
  /** The user says something. */
  const say = async (content: string, parameters = {}) => {
    said += 1;
    agent.addMessage({ id: `m${said}`, role: 'user', content });
    return run(parameters);
  };
  /** Answers the one interrupt that the client holds. */
  const answer = async (payload: unknown) => {
    const [interrupt]: Interrupt[] = agent.pendingInterrupts;
    return run({
      resume: [{ interruptId: interrupt?.id ?? '', status: 'resolved' as const, payload }],
    });
  };
  return { agent, posted, run, say, answer };
}

/** The events of a stream; throws for one that the older package can't read. */
export function olderEvents(stream: string): OlderEvent[] {
  const events: OlderEvent[] = [];
  const parser = createParser({
    onEvent: ({ data }) => void events.push(EventSchemas.parse(JSON.parse(data))),
  });
  parser.feed(stream);
  return events;
}
