import {
  CLIENT_CAPABILITIES_META_KEY,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { quoteInertLine } from '../../content/inert-text.ts';
import { unlessAborted } from '../../content/waiting.ts';
import type { AgentThread } from '../../thread/agent-thread.ts';
import type { GateContext } from './gate-context.ts';
import type { WaitingCall } from './gate-options.ts';

/* The key of the gate's request in a result of protocol 2026-07-28, which the client's next call repeats. */
const inputKey = 'holdpoint-page';

const capabilitySchema = z.object({ elicitation: z.object({ url: z.object({}) }) });
const envelopeSchema = z.object({ [CLIENT_CAPABILITIES_META_KEY]: capabilitySchema });

/** A call, and the client that is to show the page of its request. */
interface ShownCall {
  tool: string;
  server: Server;
  context: ServerContext;
  /** The ids of the requests whose page a client was asked to show. */
  shownPages: Set<string>;
}

/* The number of remembered ids of such requests. */
const maximumShown = 10_000;

/** The page where a person decides about a call. The user's reply to the client's prompt decides nothing. */
export class CallPage {
  readonly #gate: GateContext;
  readonly #call: ShownCall;
  /** Its address for the model, once the call waits for a person; `undefined` if the app has none. */
  url: string | undefined;
  /** The result that makes a client of protocol 2026-07-28 show it and call again. */
  requirement: InputRequiredResult | undefined;

  constructor(gate: GateContext, call: ShownCall) {
    this.#gate = gate;
    this.#call = call;
  }

  /** Asks the client to show the page, once for each request, if it can. Resolves to true if the client has to call again for that. */
  async show(
    thread: AgentThread,
    { timeIsUp, over }: { timeIsUp: AbortSignal; over: AbortSignal },
  ): Promise<boolean> {
    const [request] = thread.activeRequests;
    if (request === undefined) return false;
    const { requestId, threadId, type } = request;
    const name = quoteInertLine(this.#call.tool);
    const message =
      type === 'question-request'
        ? `The server of ${name} asks a person something. Open this page to answer.`
        : `A person has to decide whether ${name} may run. Open this page to decide.`;
    const { server, context, shownPages } = this.#call;
    const find = async (shownTo: WaitingCall['shownTo']): Promise<string | undefined> =>
      unlessAborted(findPageUrl(this.#gate, { requestId, threadId, shownTo }), timeIsUp);
    this.url = await find('model');
    if (!maySeePage(server, context) || shownPages.has(requestId)) return false;
    const url = await find('person');
    if (url === undefined || over.aborted) return false;
    const [oldest] = shownPages;
    if (shownPages.size >= maximumShown && oldest !== undefined) shownPages.delete(oldest);
    shownPages.add(requestId);
    if (context.mcpReq.envelope === undefined) {
      this.#send(requestId, { url, message }, over);
      return false;
    }
    const elicitation = inputRequired.elicitUrl({ url, message });
    this.requirement = inputRequired({ inputRequests: { [inputKey]: elicitation } });
    return true;
  }

  /** Asks an older client to show the page while its call is held. */
  #send(elicitationId: string, shown: { url: string; message: string }, over: AbortSignal): void {
    const { server, context } = this.#call;
    const complete = server.createElicitationCompletionNotifier(elicitationId);
    over.addEventListener('abort', () => void complete().catch(() => {}), { once: true });
    const params = { mode: 'url' as const, ...shown, elicitationId };
    const { holdMs: timeout } = this.#gate;
    context.mcpReq.elicitInput(params, { signal: over, timeout }).catch(() => {});
  }
}

/** Finds the address of the page where a person answers a request, if the app has one. */
async function findPageUrl(
  { pageUrl, report }: GateContext,
  waiting: WaitingCall,
): Promise<string | undefined> {
  try {
    const url = await pageUrl?.(waiting);
    if (url === undefined || /^https?:$/.test(new URL(url).protocol)) return url;
    report({ problem: `pageUrl returned ${quoteInertLine(url)}, which is not an http(s) URL.` });
  } catch (error) {
    report({ problem: 'pageUrl failed.', error });
  }
  return undefined;
}

/** Checks whether a client can show an address to its user, and has not just done so for this call. */
function maySeePage(server: Server, { mcpReq }: ServerContext): boolean {
  const isAble =
    mcpReq.envelope === undefined
      ? capabilitySchema.safeParse(server.getClientCapabilities()).success
      : envelopeSchema.safeParse(mcpReq.envelope).success;
  return isAble && inputResponse(mcpReq.inputResponses, inputKey).kind === 'missing';
}
