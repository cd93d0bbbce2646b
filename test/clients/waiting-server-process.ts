/*
 * An MCP server that lets its clients wait, to measure what they do meanwhile. Arguments: `silence`, `progress` or `url`; the seconds until `pay`
 * returns; the file that is told what happens; and `http` for streamable HTTP, whose address the file is told too.
 */
import { appendFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import {
  CLIENT_CAPABILITIES_META_KEY,
  createMcpHandler,
  inputRequired,
  inputResponse,
  isLegacyRequest,
  Server,
  type ServerContext,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { makeRandomId } from '../../src/content/crypto.ts';
import { serveLocally } from '../../src/apps/command/local-server.ts';

const [kind, seconds = '0', file = '', transport] = process.argv.slice(2);
const tell = (told: object): void => appendFileSync(file, `${JSON.stringify(told)}\n`);
const page = { url: 'http://127.0.0.1/decide', message: 'Open this page to decide.' };
const pay = { name: 'pay', inputSchema: { type: 'object' as const } };

function makeServer(): Server {
  const server = new Server({ name: 'bank', version: '1' }, { capabilities: { tools: {} } });
  server.setRequestHandler('tools/list', () => ({ tools: [pay] }));
  server.setRequestHandler('tools/call', async (_request, context) => {
    const { mcpReq } = context;
    if (kind === 'url') {
      const required = await showPage(server, context);
      if (required !== undefined) return required;
    } else {
      tell({ calledAt: Date.now() });
      const until = Date.now() + 1_000 * Number(seconds);
      const { _meta: { progressToken } = {} } = mcpReq;
      for (let progress = 1; Date.now() < until; progress += 1) {
        await setTimeout(Math.min(5_000, until - Date.now()));
        if (kind !== 'progress' || progressToken === undefined) continue;
        tell({ hasToken: true });
        const params = { progressToken, progress, message: 'A person has to decide.' };
        await mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {});
      }
    }
    return { content: [{ type: 'text', text: 'Paid.' }] };
  });
  return server;
}

/** Has the client show a page, in either era of the protocol, and tells the file what it answered. */
async function showPage(server: Server, { mcpReq }: ServerContext) {
  if (mcpReq.envelope === undefined) {
    if (server.getClientCapabilities()?.elicitation?.url === undefined) return undefined;
    const asked = { ...page, mode: 'url' as const, elicitationId: '1' };
    const { action } = await mcpReq.elicitInput(asked).catch(() => ({ action: 'an error' }));
    tell({ action });
    return undefined;
  }
  const given = inputResponse(mcpReq.inputResponses, 'page');
  if (given.kind !== 'missing') {
    tell({ action: 'action' in given ? given.action : given.kind });
    return undefined;
  }
  const declared: unknown = Reflect.get(mcpReq.envelope, CLIENT_CAPABILITIES_META_KEY);
  if (!JSON.stringify(declared).includes('"url"')) return undefined;
  return inputRequired({ inputRequests: { page: inputRequired.elicitUrl(page) } });
}

/** Serves older clients in sessions, so that they can be asked, too. */
function makeHandler(): (request: Request) => Promise<Response> {
  const { fetch } = createMcpHandler(makeServer, { legacy: 'reject' });
  const sessions = new Map<string, WebStandardStreamableHTTPServerTransport>();
  const open = async (): Promise<WebStandardStreamableHTTPServerTransport> => {
    const opened = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: makeRandomId,
      onsessioninitialized: (id) => void sessions.set(id, opened),
    });
    await makeServer().connect(opened);
    return opened;
  };
  return async (request) => {
    if (!(await isLegacyRequest(request))) return fetch(request);
    const id = request.headers.get('mcp-session-id');
    const session = id === null ? await open() : sessions.get(id);
    return session?.handleRequest(request) ?? new Response(null, { status: 404 });
  };
}

if (transport === 'http') {
  const { host } = await serveLocally(0, makeHandler);
  tell({ url: `http://${host}/mcp` });
} else serveStdio(makeServer);
