import {
  type CallToolRequest,
  type CallToolResult,
  CLIENT_INFO_META_KEY,
  type InputRequiredResult,
  ProtocolError,
  ProtocolErrorCode,
  type Server,
  type ServerContext,
  type Tool,
} from '@modelcontextprotocol/server';
import { z } from 'zod';
import { watchThread } from '../../agent.ts';
import { inertText, quoteInertLine } from '../../content/inert-text.ts';
import { awaitUntilAborted } from '../../content/waiting.ts';
import { HoldpointError } from '../../errors.ts';
import { whyNotStrictJson } from '../../json/strict-json.ts';
import type { AgentThread } from '../../thread/agent-thread.ts';
import { endTurn } from './calls-here.ts';
import {
  describeCallEnd,
  describePending,
  describeRunning,
  describeUnready,
  makeError,
  markUnstructured,
} from './call-result.ts';
import type { CallIndex } from './find-call.ts';
import type { ClientCall, GateContext } from './gate-context.ts';
import type { GateCaller } from './gate-options.ts';
import { type HeldCall, holdCall } from './hold-call.ts';
import {
  isServerAsking,
  makeCallerId,
  noteInformed,
  noteLeft,
  noteUnknown,
  noteWaiting,
} from './note-call.ts';
import { CallPage } from './show-page.ts';

/** The connection of a caller, where the protocol's library does not expose it. */
export interface CallerConnection {
  /** Aborts when the caller has disconnected. */
  gone: AbortSignal;
  /** Resolves when the response has been sent. */
  sent: Promise<unknown>;
}

/** The parts that the servers of a gate share. */
export interface ServedGate {
  index: CallIndex;
  /** The connection of an HTTP request. */
  findConnection: (request: Request) => CallerConnection | undefined;
  /** The ids of the requests whose page a client was asked to show. */
  shownPages: Set<string>;
}

/** A `tools/call` request, the server that received it, and its caller. */
export interface ReceivedCall {
  server: Server;
  caller: GateCaller;
  params: CallToolRequest['params'];
  context: ServerContext;
}

/* The time, in milliseconds, that a client waits for the first definitions of servers that the gate has never seen. */
const listingMs = 10_000;

/* Matches the end of an id that is surely random: a UUID, or many letters and digits, of which many differ. */
const drawnEnd = /(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-z]{20,})$/i;
const leastDifferent = 8;

/*
 * Some models count their calls (`pay:0`), from 0 in each conversation or turn. Such an id would be reused by a later call, which would get
 * the old result.
 */
const isUnique = (id: string): boolean => new Set(drawnEnd.exec(id)?.[0]).size >= leastDifferent;

const clientIdSchema = z.string().max(256).refine(isUnique).optional().catch(undefined);
/* The ids of calls that clients send: Claude Code's, and Codex's. */
const callMetaSchema = z
  .object({ 'claudecode/toolUseId': clientIdSchema, callId: clientIdSchema })
  .catch({});

const envelopeSchema = z.object({ [CLIENT_INFO_META_KEY]: z.object({ name: z.string() }) });

/** Waits until the upstreams have listed their tools, if the gate has never seen them. */
export async function waitForTools({ gate }: CallIndex, signal: AbortSignal): Promise<void> {
  const { upstreams, wait, closing } = gate;
  const listed = new AbortController();
  const signals = AbortSignal.any([signal, closing, listed.signal]);
  await Promise.race([upstreams.whenListed(), wait(listingMs, signals)]).finally(() =>
    listed.abort(),
  );
}

/** Serves a call: holds it while it waits for a person, and describes its outcome to the client. */
export async function answerClientCall(
  serving: ServedGate,
  received: ReceivedCall,
): Promise<CallToolResult | InputRequiredResult> {
  const { index } = serving;
  const { gate } = index;
  const { mcpReq } = received.context;
  const { name: tool, arguments: input = {} } = received.params;
  if (gate.closing.aborted) return makeError('The gate is closing. Nothing has happened.');
  const { findUpstream } = gate.upstreams;
  if (findUpstream(tool) === undefined) await waitForTools(index, mcpReq.signal);
  const upstream = findUpstream(tool);
  if (upstream === undefined) {
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, describeUnknown(gate, tool));
  }
  const fault = whyNotStrictJson(input) ?? whyNotPlain(input, findTool(gate, tool)?.inputSchema);
  if (fault !== undefined) return makeError(`Not run: invalid arguments: ${fault}.`);
  try {
    return await index.here.track(serveValidCall(serving, received, { tool, upstream, input }));
  } catch (error) {
    if (HoldpointError.isInstance(error)) return makeError(inertText(error.message));
    if (gate.closing.aborted) {
      return makeError('The gate is closing. Call again with exactly the same arguments.');
    }
    gate.report({ problem: `A call of ${quoteInertLine(tool)} failed in the gate.`, error });
    return makeError(
      'The gate failed, and could not find out what became of this call. Call again with exactly the same arguments to get its outcome.',
    );
  }
}

/*
 * Some libraries, such as Go's, match argument names in any case, and take the last of two: the call could run with another value than the
 * one that rules and standing approvals checked.
 */
function whyNotPlain(input: object, schema: Tool['inputSchema'] | undefined): string | undefined {
  const names = new Map<string, string>();
  for (const name of Object.keys(input)) {
    const folded = name.normalize('NFKC').toLowerCase();
    const other = names.get(folded) ?? name;
    const isDeclared = [name, other].every((each) => Object.hasOwn(schema?.properties ?? {}, each));
    if (other !== name && !isDeclared)
      return `${quoteInertLine(other)} and ${quoteInertLine(name)} may be the same argument to the server, so send one of them`;
    names.set(folded, name);
  }
  return undefined;
}

function describeUnknown({ upstreams: { unlisted } }: GateContext, tool: string): string {
  const unknown = `Unknown tool ${quoteInertLine(tool)}.`;
  if (unlisted.length === 0) return unknown;
  return `${unknown} The gate has not reached ${unlisted.join(', ')} yet, so that it may be a tool of theirs. Call again later.`;
}

async function serveValidCall(
  serving: ServedGate,
  received: ReceivedCall,
  made: Pick<ClientCall, 'tool' | 'upstream' | 'input'>,
): Promise<CallToolResult | InputRequiredResult> {
  const { index } = serving;
  const { gate } = index;
  const { context } = received;
  const { tool } = made;
  const connection = context.http?.req && serving.findConnection(context.http.req);
  const { signal } = context.mcpReq;
  const gone = connection === undefined ? signal : AbortSignal.any([signal, connection.gone]);
  const page = new CallPage(gate, { ...received, tool, shownPages: serving.shownPages });
  const over = new AbortController();
  const call = { ...made, ...describeClient(received) };
  const callerId = makeCallerId(gate, call);
  const onWaiting: HeldCall['onWaiting'] = (thread, timeIsUp) =>
    page.show(thread, { timeIsUp, over: over.signal });
  const sender = new ProgressSender(gate, context, {
    tool,
    over: AbortSignal.any([gone, over.signal]),
  });
  const onFound = (threadId: string): void => sender.follow(threadId);
  const held = { call, callerId, gone, onFound, onWaiting };
  const end = await holdCall(index, held).finally(() => over.abort());
  if (end.status === 'left') return makeError('The client has gone.');
  if (end.status === 'running') return describeRunning(tool);
  if (end.status === 'pending' || end.status === 'unready') {
    const isTyped = findTool(gate, tool)?.outputSchema !== undefined;
    if (end.status === 'unready') return describeUnready(made, { isTyped });
    return (
      page.requirement ??
      describePending(tool, { url: page.url, isTyped, hasBegun: isServerAsking(end.thread) })
    );
  }
  /* Over HTTP, the library also aborts its own signal when the exchange is complete. */
  const receiver = connection ?? { gone: signal, sent: endTurn() };
  void index.here.track(noteSent(index, end, { ...receiver, callerId }));
  return project(gate, received, describeCallEnd(end.thread));
}

/** Describes the caller, and the client's own id of the call. */
function describeClient({
  server,
  caller: { principal, place },
  context: { mcpReq },
}: ReceivedCall): Omit<ClientCall, 'tool' | 'upstream' | 'input'> {
  const { data: envelope } = envelopeSchema.safeParse(mcpReq.envelope);
  const { name } = envelope?.[CLIENT_INFO_META_KEY] ?? server.getClientVersion() ?? {};
  const { _meta: meta } = mcpReq;
  const ids = callMetaSchema.parse(meta);
  return {
    principal,
    place,
    client: name ?? 'a client without a name',
    clientCallId: ids['claudecode/toolUseId'] ?? ids.callId,
  };
}

/**
 * Notes, once the outcome was sent, whether the caller got it: not before, as a caller without it collects it later. An unknown outcome is
 * sent each time, until a person has settled it.
 */
async function noteSent(
  { gate, here }: CallIndex,
  { thread }: { thread: AgentThread },
  { callerId, gone, sent }: CallerConnection & { callerId: string },
): Promise<void> {
  const over = new AbortController();
  const saying = { callerId, over: AbortSignal.any([gone, over.signal]) };
  void here.track(sayWaiting(gate, thread, saying));
  try {
    const isSent = await waitUntilSent(gate, { gone, sent });
    over.abort();
    if (thread.status === 'indeterminate') return await noteUnknown(gate.agent, thread, callerId);
    if (!isSent) here.forget(thread.id);
    await (isSent ? noteInformed : noteLeft)(gate.agent, thread, callerId);
    here.forget(thread.id);
  } catch (error) {
    gate.report({ problem: 'It could not be recorded that a caller got its result.', error });
  }
}

/** Resolves to whether the outcome was sent: once it was, or the caller has gone, or the gate closes and has waited for a moment. */
async function waitUntilSent(
  { closing, wait, pollMs }: GateContext,
  { gone, sent }: CallerConnection,
): Promise<boolean> {
  let isSent = false;
  const sending = sent.then(() => void (isSent = true));
  await awaitUntilAborted(sending, AbortSignal.any([gone, closing])).catch(() => {});
  if (!isSent && !gone.aborted) await Promise.race([sending, wait(pollMs, gone)]).catch(() => {});
  return isSent && !gone.aborted;
}

/** Confirms that the caller is still there when another gate asks while the outcome is being sent. */
async function sayWaiting(
  { agent, wait, pollMs, report }: GateContext,
  thread: AgentThread,
  { callerId, over }: { callerId: string; over: AbortSignal },
): Promise<void> {
  for (;;) {
    /* It has usually been sent by then. */
    await wait(pollMs, over).catch(() => {});
    if (over.aborted) return;
    try {
      for await (const changed of watchThread(agent, thread, { signal: over, wait, pollMs }))
        await noteWaiting(agent, changed, { id: callerId, until: agent.now() });
    } catch (error) {
      report({ problem: 'It could not be recorded that a caller is still there.', error });
    }
  }
}

/** Finds a tool as it is listed. */
function findTool({ upstreams }: GateContext, tool: string): Tool | undefined {
  return upstreams.listed.find(({ name }) => name === tool);
}

/** Converts the result to the client's protocol. */
function project(
  gate: GateContext,
  { server, params }: ReceivedCall,
  result: CallToolResult,
): CallToolResult {
  const { outputSchema } = findTool(gate, params.name) ?? {};
  const told = outputSchema === undefined ? result : markUnstructured(result);
  return server.projectCallToolResult(told, outputSchema);
}

/* The pause between two notifications, in milliseconds: with and without news from the server. */
const shortestPauseMs = 1_000;
const longestPauseMs = 5_000;

/** Sends progress of a call to its client until the signal aborts, if the client asked for it: without progress it may give up. */
class ProgressSender {
  readonly #gate: GateContext;
  readonly #context: ServerContext;
  readonly #over: AbortSignal;
  #message: string;
  #news = new AbortController();
  #stopFollowing: (() => void) | undefined;

  constructor(
    gate: GateContext,
    context: ServerContext,
    call: { tool: string; over: AbortSignal },
  ) {
    this.#gate = gate;
    this.#context = context;
    this.#over = call.over;
    this.#message = `${quoteInertLine(call.tool)} waits for a person or runs.`;
    call.over.addEventListener('abort', () => this.#stopFollowing?.(), { once: true });
    void this.#send();
  }

  /** Passes on the server's progress of the call in this thread. */
  follow(threadId: string): void {
    this.#stopFollowing?.();
    if (this.#over.aborted) return;
    this.#stopFollowing = this.#gate.upstreams.progress.follow(threadId, (text) => {
      this.#message = text;
      this.#news.abort();
    });
  }

  async #send(): Promise<void> {
    const { mcpReq } = this.#context;
    const { _meta: { progressToken } = {} } = mcpReq;
    if (progressToken === undefined) return;
    for (let progress = 1; ; progress += 1) {
      await this.#wait(shortestPauseMs, this.#over);
      await this.#wait(
        longestPauseMs - shortestPauseMs,
        AbortSignal.any([this.#over, this.#news.signal]),
      );
      if (this.#over.aborted) return;
      this.#news = new AbortController();
      const params = { progressToken, progress, message: this.#message };
      await mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {});
    }
  }

  async #wait(milliseconds: number, signal: AbortSignal): Promise<void> {
    if (!signal.aborted) await this.#gate.wait(milliseconds, signal).catch(() => {});
  }
}
