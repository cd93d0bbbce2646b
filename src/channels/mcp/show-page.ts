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
import type { AgentThread } from '../../thread/agent-thread.ts';
import type { GateContext } from './gate-context.ts';

/* The key of the gate's request in a result of protocol 2026-07-28, which the client's next call repeats. */
const inputKey = 'holdpoint-page';

const capabilitySchema = z.object({ elicitation: z.object({ url: z.object({}) }) });
const envelopeSchema = z.object({ [CLIENT_CAPABILITIES_META_KEY]: capabilitySchema });

/** The address of the page where a person answers the open request of a thread, if the app has one. */
export async function findPageUrl(
  { pageUrl, report }: GateContext,
  { id: threadId, activeRequests: [request] }: AgentThread,
): Promise<string | undefined> {
  if (pageUrl === undefined || request === undefined) return undefined;
  try {
    const url = await pageUrl({ requestId: request.requestId, threadId });
    if (url === undefined || /^https?:$/.test(new URL(url).protocol)) return url;
    report({ problem: `pageUrl returned ${quoteInertLine(url)}, which is not an http(s) URL.` });
  } catch (error) {
    report({ problem: 'pageUrl failed.', error });
  }
  return undefined;
}

/** Whether the request is one of protocol 2026-07-28, where a result asks the client for something, instead of a request to it. */
export function isModern({ mcpReq }: ServerContext): boolean {
  return mcpReq.envelope !== undefined;
}

/** Whether the client can show an address to its user, and was not asked to for this call. */
export function maySeePage(server: Server, { mcpReq }: ServerContext): boolean {
  const isAble =
    mcpReq.envelope === undefined
      ? capabilitySchema.safeParse(server.getClientCapabilities()).success
      : envelopeSchema.safeParse(mcpReq.envelope).success;
  return isAble && inputResponse(mcpReq.inputResponses, inputKey).kind === 'missing';
}

/** The result that has a client of protocol 2026-07-28 show the page and call again. What its user says to that decides nothing. */
export function requirePage(tool: string, url: string): InputRequiredResult {
  const request = inputRequired.elicitUrl({ url, message: describePage(tool) });
  return inputRequired({ inputRequests: { [inputKey]: request } });
}

/** Has an older client show the page while its call is held. What its user says to that decides nothing. */
export function showPage(
  server: Server,
  { mcpReq }: ServerContext,
  shown: { tool: string; url: string; id: string; timeout: number; over: AbortSignal },
): void {
  const { tool, url, id: elicitationId, timeout, over: signal } = shown;
  const complete = server.createElicitationCompletionNotifier(elicitationId);
  signal.addEventListener('abort', () => void complete().catch(() => {}), { once: true });
  const message = describePage(tool);
  const params = { mode: 'url' as const, message, url, elicitationId };
  mcpReq.elicitInput(params, { signal, timeout }).catch(() => {});
}

function describePage(tool: string): string {
  return `A person has to decide whether ${quoteInertLine(tool)} may run. Open this page to decide.`;
}
