import { Server, type Transport } from '@modelcontextprotocol/server';
import type { ToolSet } from 'ai';
import {
  type Agent,
  type AgentResponse,
  callsApart,
  type CallsApartOptions,
  changingTools,
  checkPolling,
  findDoor,
  findNamedTools,
} from '../../agent.ts';
import { callGuarded } from '../../content/app-errors.ts';
import { checkLimit, checkMs, refuseUnknown } from '../../content/check-settings.ts';
import { makeRandomId } from '../../content/crypto.ts';
import { quoteInertLine } from '../../content/inert-text.ts';
import { waitForTimer } from '../../content/waiting.ts';
import { checkOrigins } from '../../http/receive-request.ts';
import { HoldpointError } from '../../errors.ts';
import type { AgentThread } from '../../thread/agent-thread.ts';
import type { ThreadStore } from '../../thread/thread-store.ts';
import { type CallRecord, readCallMessage, readCallRecord } from './call-record.ts';
import { Elicitations } from '../../tools/ask-elicitations.ts';
import { CallsHere } from './calls-here.ts';
import type { GateContext } from './gate-context.ts';
import { checkGateName, type GateCaller, type GateOptions, gateSettings } from './gate-options.ts';
import { answerClientCall, type ServedGate, waitForTools } from './answer-call.ts';
import { isApproved, requireServer } from './reach-server.ts';
import { HttpGate } from './serve-http.ts';
import { serveOverStdio } from './serve-stdio.ts';
import { openUpstreams } from './upstreams.ts';
import { createCustomAgent } from '../../agent/custom.ts';

/** The options for serving one client over standard input and output. */
interface ServeStdioOptions extends GateCaller {
  /** The transport to use instead of standard input and output. */
  transport?: Transport;
}

/** MCP servers behind a hold point: see `createGate`. */
export interface Gate {
  /** The agent whose threads are the calls: for `createInboxHandler`, `agent.requests` and every other part of holdpoint. */
  readonly agent: Agent;
  /** `agent` and the agents of the gate's other requests, such as to accept the tools of a server: pass them to `createInboxHandler`. */
  readonly agents: readonly Agent[];
  /** A server of `@modelcontextprotocol/server` for one connection of this caller, to connect to a transport of your own. */
  makeServer(caller: GateCaller): Server;
  /**
   * Serves one client over standard input and output, in either era of the protocol. Resolves when the client has gone. The default place
   * of the caller is the working directory.
   */
  serveStdio(options?: ServeStdioOptions): Promise<void>;
  /**
   * A fetch-style handler for MCP over streamable HTTP, in either era of the protocol, to mount behind your own sign-in. Rejects with a
   * `TypeError` if the gate has no `authorize`.
   */
  readonly handler: (request: Request) => Promise<Response>;
  /**
   * Runs the approved call of a thread although no client waits for it; its client gets the result when it calls again. You decide who may
   * do that; `principal` is recorded. A call that nobody has approved is not run. Rejects with `not-allowed` for a call of a server that
   * this gate is not in front of, or that is not ready within 30 seconds (the approval stands), and once the gate is closed.
   */
  readonly runNow: (
    threadId: string,
    options?: { principal?: unknown; channel?: string },
  ) => Promise<AgentResponse>;
  /** Takes no new calls, tells clients that their calls are pending, and resolves when running calls have been recorded. */
  close(): Promise<void>;
}

const defaultHoldMs = 45_000;
const defaultWaiting = 100;
/* A gate reads each call that it holds every 1.5 seconds. */
const leastPatienceMs = 5_000;

/**
 * Creates a gate: an MCP server in front of others, which holds each call until a person has approved it. Each call is a thread of
 * `gate.agent`, so that rules, approvers, edits, quorums, standing approvals and the inbox work as for every agent. A call that a rule lets
 * run runs at once; without rules, every call asks.
 *
 * A client that gives up, or whose gate is restarted, gets the result by calling again with the same arguments: the same call continues,
 * nobody is asked twice, and it runs at most once. It runs only while a client waits for it, or by `gate.runNow`.
 *
 * Throws a `TypeError` for an unknown or invalid setting, and for rules as `createAgent` does.
 *
 * @example
 * const gate = createGate({ store, upstreams: { bank: { command: 'bank-server', args: ['--stdio'] } } });
 * await gate.serveStdio({ principal: 'ada' });
 */
export function createGate(options: GateOptions): Gate {
  refuseUnknown('createGate', options, gateSettings);
  checkGateName(options);
  checkPolling(options);
  checkOrigins(options);
  const { wait = waitForTimer, pollMs = 500, generateId = makeRandomId, pageUrl } = options;
  const report: GateContext['report'] = (problem) => void callGuarded(options.onProblem, problem);
  const closing = new AbortController();
  let tools = noTools;
  const agent = makeGateAgent(options, () => tools);
  const store = requireStore(agent);
  const upstreams = openUpstreams({
    ...options,
    store,
    now: () => agent.now(),
    wait,
    pollMs,
    report,
    elicitations: new Elicitations(() => agent),
    closing: closing.signal,
  });
  tools = upstreams.tools;
  const gate: GateContext = {
    agent,
    store,
    upstreams,
    generateId,
    wait,
    pollMs,
    patienceMs: Math.max(options.leaseMs ?? defaultLeaseMs, 4 * pollMs, leastPatienceMs),
    holdMs: checkMs(options.holdMs ?? defaultHoldMs, 'holdMs'),
    maximumWaiting: checkLimit(options.maximumWaiting ?? defaultWaiting, 'maximumWaiting'),
    pageUrl,
    report,
    closing: closing.signal,
  };
  const here = new CallsHere();
  const index = { gate, here };
  const servers = new Set<Server>();
  const makeServer = (caller: GateCaller): Server => {
    const server = makeGateServer(serving, caller);
    servers.add(server);
    const onclose = (): void => void servers.delete(server);
    Object.assign(server, { onclose });
    return server;
  };
  const http = new HttpGate(gate, options, makeServer);
  const serving: ServedGate = {
    index,
    findConnection: (request) => http.findConnection(request),
    shownPages: new Set(),
  };
  const reportUnknown = makeUnknownReport(gate, options.toolApproval);
  void upstreams.whenListed().then(reportUnknown);
  const removeListener = upstreams.onChange(() => {
    tools = upstreams.tools;
    for (const server of servers) server.sendToolListChanged().catch(() => {});
    http.notifyChange();
    reportUnknown();
  });
  return {
    agent,
    agents: [agent, ...upstreams.agents],
    makeServer,
    serveStdio: async ({ transport, ...caller } = {}) => {
      const place = caller.place ?? globalThis.process?.cwd();
      const local = { ...caller, ...(place !== undefined && { place }) };
      await serveOverStdio(
        () => makeServer(local),
        transport,
        (error) => report({ problem: 'What the client sent could not be read.', error }),
      );
    },
    handler: async (request) => http.handle(request),
    runNow: async (threadId, by = {}) => {
      await waitForTools(index, closing.signal);
      const thread = await agent.thread(threadId);
      const call = requireOwnCall(gate, thread);
      if (closing.signal.aborted) {
        throw new HoldpointError('not-allowed', 'This gate is closed; it no longer runs calls.');
      }
      if (isApproved(thread)) await requireServer(gate, call);
      return here.track(agent.run([], thread, by));
    },
    close: async () => {
      closing.abort();
      removeListener();
      await here.settle();
      await Promise.allSettled([...servers].map(async (server) => server.close()));
      await http.close();
      await upstreams.close();
    },
  };
}

const noTools: ToolSet = {};

/** Reads the call of a thread. Throws if another gate on the same store has taken it: this gate's server may have a tool of that name. */
function requireOwnCall({ upstreams }: GateContext, thread: AgentThread): CallRecord {
  const call = readCallRecord(thread);
  if (call !== undefined && upstreams.findUpstream(call.tool) === call.upstream) return call;
  const which =
    call === undefined
      ? 'is no call of a gate'
      : `calls ${quoteInertLine(call.tool)} of the MCP server ${quoteInertLine(call.upstream)}, which this gate is not in front of`;
  throw new HoldpointError(
    'not-allowed',
    `The thread ${thread.id} ${which}. Run it by the gate that took the call, or let its client call again.`,
  );
}

function requireStore(agent: Agent): ThreadStore {
  const store = findDoor(agent)?.store;
  if (store === undefined) throw new Error('An agent without a store.');
  return store;
}

/** A server for one connection of this caller. It lists the pinned tools of the upstreams, and holds their calls. */
function makeGateServer(serving: ServedGate, caller: GateCaller): Server {
  const { index } = serving;
  const { agent, upstreams } = index.gate;
  const info = { name: agent.name ?? 'gate', version: '1' };
  const server = new Server(info, { capabilities: { tools: { listChanged: true } } });
  server.setRequestHandler('tools/list', async (_request, { mcpReq }) => {
    await waitForTools(index, mcpReq.signal);
    return { tools: [...upstreams.listed] };
  });
  server.setRequestHandler('tools/call', async ({ params }, context) =>
    answerClientCall(serving, { server, caller, params, context }),
  );
  return server;
}

/* Short enough to notice a killed gate while its client waits: common clients give up after 60 seconds. */
const defaultLeaseMs = 15_000;

const whyNotCalls =
  "It reads calls, which has no other call here: each call through a gate is a thread of its own. Sum over the store, as in 'A budget' of docs/guides/gate.md.";

/** Makes the agent whose threads are calls: its first step makes the call of the thread, and its second one ends. */
function makeGateAgent(options: GateOptions, readTools: () => ToolSet): Agent {
  const { store, toolApproval, mayAnswer, principalId, onUnrecorded, now, generateId } = options;
  const { name = 'gate', leaseMs = defaultLeaseMs } = options;
  const marked: CallsApartOptions = { [callsApart]: whyNotCalls };
  return createCustomAgent({
    ...marked,
    name,
    leaseMs,
    tools: changingTools(readTools),
    store,
    toolApproval,
    mayAnswer,
    principalId,
    onUnrecorded,
    now,
    generateId,
    step: ({ stepNumber, messages }) => {
      const call = stepNumber === 0 ? readCallMessage(messages[0]) : undefined;
      return call === undefined ? {} : { toolCalls: [{ toolName: call.tool, input: call.input }] };
    },
  });
}

/**
 * Makes a function that reports rules for tools that no upstream has, once each: they hold no call. It reports nothing while an upstream
 * has never listed its tools.
 */
function makeUnknownReport(
  { upstreams, report }: Pick<GateContext, 'upstreams' | 'report'>,
  toolApproval: unknown,
): () => void {
  const named = new Set(findNamedTools(toolApproval));
  return () => {
    if (upstreams.unlisted.length > 0) return;
    const tools = Object.keys(upstreams.tools);
    for (const each of named) {
      if (tools.some((tool) => each.fits(tool))) continue;
      named.delete(each);
      report({
        problem: `A rule names ${quoteInertLine(each.name)}, which fits no tool of this gate.`,
      });
    }
  };
}
