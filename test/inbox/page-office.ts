import { tool } from 'ai';
import { type AgentOptions, createAgent, memoryStore } from 'holdpoint';
import { createInboxHandler, type InboxHandlerOptions } from 'holdpoint/inbox';
import { type ScriptedStep, scriptedModel } from 'holdpoint/testing';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { z } from 'zod';
import { serveFetch } from '../../examples/serve-fetch.ts';

/* What no JSON Schema says, only the server finds out. */
const mail = z.object({
  to: z.string(),
  body: z.string().refine((text) => !text.includes('cheap'), { error: 'must not say cheap' }),
});

/** What a request is asked on, beside its arguments. Requests with another `topic` are not alike. */
interface Asked {
  to: string;
  body?: string;
  topic?: string;
  risk?: 'high' | 'critical';
  mayBeRemembered?: true;
}

/**
 * An office whose agent asks before each mail, and the inbox of the one person who is signed in, on a real server. Calls are not run: answers
 * are recorded, and a worker elsewhere would go on.
 */
export async function openOffice(options: Partial<InboxHandlerOptions> = {}) {
  const steps: ScriptedStep[] = [];
  const topics = new Map<string, Asked>();
  const rule: NonNullable<AgentOptions['toolApproval']> = {
    send_mail: ({ to }: z.infer<typeof mail>) => {
      const { topic = 'news', risk, mayBeRemembered } = topics.get(to) ?? {};
      return {
        type: 'user-approval',
        text: `Send a mail to ${to}?`,
        editable: ['body'],
        metadata: { topic },
        ...(risk && { risk }),
        ...(mayBeRemembered && { remember: { scope: 'everyone', match: 'any' } }),
      };
    },
  };
  const agent = createAgent({
    model: scriptedModel(() => steps.shift() ?? { text: 'Done.' }).model,
    name: 'office',
    store: memoryStore(),
    tools: {
      send_mail: tool({ description: 'Sends a mail.', inputSchema: mail, execute: () => 'Sent.' }),
    },
    toolApproval: rule,
    maxRetries: 0,
  });
  const threads: string[] = [];
  const inputs = new Map<string, z.infer<typeof mail>>();
  /** The agent asks for one more mail. */
  const ask = async ({ to, body = 'Hello', ...asked }: Asked): Promise<void> => {
    topics.set(to, { to, ...asked });
    const threadId = `thread ${threads.length + 1}`;
    threads.push(threadId);
    inputs.set(threadId, { to, body });
    steps.push({
      calls: [{ id: `call ${threads.length}`, name: 'send_mail', input: { to, body } }],
    });
    await agent.run('Write.', await agent.thread(threadId), { principal: 'eve' });
  };
  /** What the log says of each request, by the person written to. */
  const readLog = async () => {
    const log = new Map<string, { status: string; by: unknown; input: unknown }>();
    for (const threadId of threads) {
      const { events, calls } = await agent.thread(threadId);
      const answered = events.find((event) => event.type === 'request-answered');
      const input = inputs.get(threadId);
      if (answered?.response.type !== 'approval-response' || input === undefined) continue;
      const { response } = answered;
      const { to } = input;
      const status = response.approved ? 'approved' : 'rejected';
      log.set(to, { status, by: answered.principal, input: calls[0]?.input });
    }
    return log;
  };
  /** Somebody else answers. */
  const rejectElsewhere = async (to: string): Promise<void> => {
    for (const threadId of threads) {
      const thread = await agent.thread(threadId);
      const request = thread.activeApprovalRequests.find(({ text }) => text.includes(` ${to}?`));
      if (request) await agent.respond(request.reject('No.'), thread, { principal: 'bo' });
    }
  };
  const gate: Gate = { pass: (_request, response) => response };
  const posted: unknown[] = [];
  const site = await serveInbox({ agents: [agent], ...options }, posted, gate);
  return { agent, ask, readLog, rejectElsewhere, gate, posted, ...site };
}

/** What becomes of a response before the browser has it. */
interface Gate {
  pass: (request: Request, response: Response) => Response;
}

/** An inbox on a real server, at which Ada is signed in unless the options say otherwise. */
export async function serveInbox(
  options: Partial<InboxHandlerOptions>,
  posted: unknown[] = [],
  gate: Gate = { pass: (_request, response) => response },
) {
  const handle = createInboxHandler({
    authorize: () => ({ principal: 'ada' }),
    pollMs: 50,
    ...options,
  });
  const server = await serveFetch(async (request) => {
    const { pathname } = new URL(request.url);
    if (pathname === '/favicon.ico') return new Response(null, { status: 204 });
    if (request.method === 'POST') posted.push(await request.clone().json());
    return gate.pass(request, await handle(request));
  }, 0);
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const url = `http://localhost:${port}/inbox`;
  const close = (): void => {
    server.closeAllConnections();
    server.close();
  };
  return { url, [Symbol.dispose]: close };
}

/** A page on the inbox, with its list read. */
export async function openInbox(
  browser: Browser | BrowserContext,
  url: string,
  { width = 1280, height = 800 } = {},
): Promise<Page> {
  const page = await browser.newPage();
  await page.setViewportSize({ width, height });
  await page.goto(url);
  await page.locator('[role=row]').first().waitFor();
  return page;
}

/** Until the request with this title is open, and could be approved. */
export async function waitForApproval(page: Page, title: string): Promise<void> {
  await page.locator('#request-title', { hasText: title }).waitFor();
  await page.locator('button.yes:not([aria-disabled="true"])').waitFor();
}
