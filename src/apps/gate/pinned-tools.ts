import type { UserModelMessage } from 'ai';
import { z } from 'zod';
import type { Agent, SharedAgentOptions } from '../../agent.ts';
import { createCustomAgent } from '../../agent/custom.ts';
import { hashText } from '../../content/crypto.ts';
import { inertText, quoteInertLine } from '../../content/inert-text.ts';
import { waitForTimer } from '../../content/waiting.ts';
import { toCanonicalText } from '../../policy/digest.ts';
import { HoldpointError } from '../../errors.ts';
import type { AgentThread } from '../../thread/agent-thread.ts';
import {
  definedSchema,
  digestTool,
  isReadOnly,
  isSameTool,
  mostTools,
  type PinnedTool,
  pinnedToolSchema,
} from './tool-definitions.ts';

/* The accepted definitions of tools, and people's decisions about their changes. An upstream may change its definitions at any time. */

const offerSchema = z.object({
  /** The tools that were offered, or are allowed since the offer was accepted: names and digests. */
  tools: z.array(z.tuple([z.string(), z.string()])),
  isAccepted: z.boolean(),
});
const newsSchema = z.object({
  providerOptions: z.object({ holdpoint: z.object({ listed: z.array(pinnedToolSchema) }) }),
});

/* The size limit for all pins of a server, which are recorded together at each change. */
const longestPins = 4_194_304;

/** The gate's options that the agent of the pins has. */
export type PinsOptions = Pick<
  SharedAgentOptions,
  'name' | 'store' | 'mayAnswer' | 'principalId' | 'now' | 'generateId'
>;

/** Makes the agent whose threads hold the pins, and in whose name people are asked about them. */
export function makePinsAgent({ name = 'gate', ...options }: PinsOptions): Agent {
  const { store, mayAnswer, principalId, now, generateId } = options;
  return createCustomAgent({
    store,
    mayAnswer,
    principalId,
    now,
    generateId,
    name: `${name}-upstreams`,
    leaseMs: 5_000,
    step: async ({ threadId, input, progress, decisions }) => {
      const upstream = /\/offer\/([^/]+)$/.exec(threadId)?.[1];
      if (upstream === undefined) return { text: 'Pinned.' };
      const listed = input.flatMap(readNews);
      const tools = listed.length === 0 ? readOffer(progress).tools : await listDigests(listed);
      const isAccepted = decisions.get('read-only')?.status === 'approved';
      if (input.length === 0) return { progress: { tools, isAccepted } };
      return {
        progress: { tools, isAccepted: false },
        requests: { 'read-only': { type: 'approval-request', ...describeOffer(upstream, listed) } },
      };
    },
  });
}

/* Kept in messages: the progress of a step has less room, and no integers beyond 2^53, which schemas of 64-bit numbers have. */
function readPins({ messages }: Pick<AgentThread, 'messages'>): PinnedTool[] {
  const byName = new Map(messages.flatMap(readNews).map((each) => [each.name, each]));
  return [...byName.values()];
}

function readNews(message: unknown): PinnedTool[] {
  return newsSchema.safeParse(message).data?.providerOptions.holdpoint.listed ?? [];
}

function readOffer(progress: unknown): z.infer<typeof offerSchema> {
  return offerSchema.safeParse(progress).data ?? { tools: [], isAccepted: false };
}

async function listDigests(tools: readonly PinnedTool[]): Promise<[string, string][]> {
  return Promise.all(
    tools.map(async (each): Promise<[string, string]> => [each.name, await digestTool(each)]),
  );
}

function describeOffer(upstream: string, tools: readonly PinnedTool[]) {
  const names = tools.map(({ name }) => name).join(', ');
  const count = tools.length === 1 ? 'the tool' : `the ${tools.length} tools`;
  return {
    text: `Let ${count} that the MCP server ${upstream} calls read-only run without asking? ${names}`,
    reason:
      'The server says so itself. All its other tools ask, and these ask again if their definitions change.',
  };
}

function makeNews(text: string, listed: readonly PinnedTool[]): UserModelMessage {
  return {
    role: 'user',
    content: text,
    providerOptions: { holdpoint: { listed: z.array(definedSchema).parse(listed) } },
  };
}

/** People's verdict on a changed definition. `unasked`: it has changed too often for them to be asked now. */
type Verdict = 'approved' | 'rejected' | 'undecided' | 'unasked';

/** A tool whose calls are refused, because its definition differs from the accepted one. */
interface ChangedTool {
  definition: PinnedTool;
  verdict: Verdict;
}

/** The pinned tools of one upstream. */
export class PinnedTools {
  readonly #agent: Agent;
  readonly #upstream: string;
  readonly #gate: string;
  #tools: readonly PinnedTool[] = [];
  /** The names that the upstream lists now; `undefined` until it has listed any. */
  #present: ReadonlySet<string> | undefined;
  #changed = new Map<string, ChangedTool>();
  readonly #budget: ChangeBudget;

  constructor(agent: Agent, { gate, upstream }: { gate: string; upstream: string }) {
    this.#agent = agent;
    this.#budget = new ChangeBudget(() => agent.now());
    this.#gate = gate;
    this.#upstream = upstream;
  }

  /** The tools to list, as accepted, without those that the upstream no longer has. */
  get tools(): readonly PinnedTool[] {
    return this.#tools.filter(({ name }) => this.#present?.has(name) ?? true);
  }

  /** True if a person has yet to decide about a change. */
  get isUndecided(): boolean {
    return [...this.#changed.values()].some(({ verdict }) => verdict === 'undecided');
  }

  /** Reads the pins. */
  async load(): Promise<void> {
    const thread = await this.#agent.thread(this.#place('pins'));
    this.#tools = readPins(thread);
  }

  /** Compares the listed tools with the pins: pins new ones, and asks about changed ones. Resolves with the problem, if there is one. */
  async compare(listed: readonly PinnedTool[]): Promise<string | undefined> {
    await this.load();
    const known = new Map(this.#tools.map((each) => [each.name, each]));
    const fresh = listed.filter(({ name }) => !known.has(name));
    /* Pins are kept for good, and a server may keep inventing names. */
    const added = fitRoom(fresh.slice(0, Math.max(0, mostTools - known.size)), this.#tools);
    if (added.length > 0) await this.#pin(added, ({ name }, pinned) => !pinned.has(name));
    const changed = new Map<string, ChangedTool>();
    for (const definition of listed) {
      const pinned = this.#tools.find(({ name }) => name === definition.name);
      if (pinned === undefined || isSameTool(pinned, definition)) continue;
      const verdict = await this.#settle(pinned, definition);
      if (verdict !== 'approved') changed.set(definition.name, { definition, verdict });
    }
    this.#changed = changed;
    this.#present = new Set(listed.map(({ name }) => name));
    await this.#offer();
    return fresh.length > added.length
      ? `It has listed more than ${mostTools} tools so far, or more than ${longestPins} characters of them: ${fresh.length - added.length} new ones are left out.`
      : undefined;
  }

  /** Reads people's decisions about changes. Resolves to true if a tool has changed. */
  async refresh(): Promise<boolean> {
    let isAdopted = false;
    /* Another listing, with other changes, may be compared meanwhile. */
    const changes = this.#changed;
    for (const [name, { definition, verdict: before }] of changes) {
      const pinned = this.#tools.find((each) => each.name === name);
      if (pinned === undefined || before !== 'undecided') continue;
      const verdict = await this.#settle(pinned, definition);
      changes.set(name, { definition, verdict });
      if (verdict !== 'approved') continue;
      changes.delete(name);
      isAdopted = true;
    }
    return isAdopted;
  }

  /** Explains why a tool can't be called now; `undefined` if it can. */
  whyNot(name: string): string | undefined {
    const verdict = this.#changed.get(name)?.verdict;
    const tool = this.#quote(name);
    if (verdict === 'rejected')
      return `Not called: the definition of ${tool} has changed, and a person has rejected the change.`;
    if (verdict === 'unasked')
      return `Not called: the definition of ${tool} changes too often. Nobody is asked about it for up to an hour.`;
    if (verdict !== undefined)
      return `Not called: the definition of ${tool} has changed. A person has been asked to accept the change first.`;
    if (this.#present?.has(name) === false) return `Not called: there is no tool ${tool} any more.`;
    return undefined;
  }

  /** Explains why a listed tool can't be called, because another definition was accepted since; `undefined` if it can. */
  whyOutdated(tool: PinnedTool): string | undefined {
    const pinned = this.#tools.find(({ name }) => name === tool.name);
    return pinned !== undefined && isSameTool(pinned, tool)
      ? undefined
      : `Not called: the definition of ${this.#quote(tool.name)} has changed since this call was approved. Call it again to have it approved anew.`;
  }

  #quote(name: string): string {
    return `${quoteInertLine(name)} of the MCP server ${this.#upstream}`;
  }

  /** Checks whether a tool runs without asking, because a person has accepted that the upstream calls it read-only. */
  async isAllowed(tool: PinnedTool): Promise<boolean> {
    if (!isReadOnly(tool)) return false;
    const thread = await this.#agent.thread(this.#place('offer'));
    if (thread.status === 'due') await this.#agent.run([], thread).catch(ignoreBusy);
    const { tools, isAccepted } = readOffer(thread.progress);
    const digest = await digestTool(tool);
    return (
      isAccepted && tools.some(([name, accepted]) => name === tool.name && accepted === digest)
    );
  }

  /** Makes the id of a thread of the upstream. Gates of other names on the same store have their own. */
  #place(what: 'pins' | 'offer' | 'change'): string {
    return `${this.#gate}/${what}/${this.#upstream}`;
  }

  async #offer(): Promise<void> {
    const readOnly = this.#tools.filter(isReadOnly);
    if (readOnly.length === 0) return;
    const thread = await this.#agent.thread(this.#place('offer'));
    if (thread.revision > 0) return;
    const news = makeNews(
      `The MCP server ${this.#upstream} was seen for the first time.`,
      readOnly,
    );
    await this.#agent.run(news, thread).catch(ignoreBusy);
  }

  async #adopt(definition: PinnedTool): Promise<void> {
    await this.#pin([definition], (each, pinned) => {
      const before = pinned.get(each.name);
      return before === undefined || !isSameTool(before, each);
    });
  }

  /** Records definitions. Other processes may do the same at the same moment. */
  async #pin(
    tools: readonly PinnedTool[],
    isMissing: (tool: PinnedTool, pinned: ReadonlyMap<string, PinnedTool>) => boolean,
  ): Promise<void> {
    for (;;) {
      const thread = await this.#agent.thread(this.#place('pins'));
      this.#tools = readPins(thread);
      const pinned = new Map(this.#tools.map((each) => [each.name, each]));
      const missing = tools.filter((each) => isMissing(each, pinned));
      if (missing.length === 0) return;
      const names = missing.map(({ name }) => name).join(', ');
      await this.#agent.run(makeNews(`Pinned: ${names}`, missing), thread).catch(ignoreBusy);
      if (thread.status === 'running') await waitForTimer(50);
    }
  }

  /** Asks a person about a change, once, and adopts it if it was approved. */
  async #settle(pinned: PinnedTool, definition: PinnedTool): Promise<Verdict> {
    const verdict = await this.#askAbout(pinned, definition);
    if (verdict !== 'approved') return verdict;
    if (!this.#budget.spend(definition.name)) return 'unasked';
    await this.#adopt(definition);
    return 'approved';
  }

  async #askAbout(pinned: PinnedTool, definition: PinnedTool): Promise<Verdict> {
    const which = await hashText(definition.name);
    const thread = await this.#agent.thread(`${this.#place('change')}/${which.slice(0, 22)}`);
    const change = `${await digestTool(pinned)}:${await digestTool(definition)}`;
    const ended = thread.decisions.filter(({ request }) => request.key?.startsWith(change));
    const status = ended.at(-1)?.status;
    if (status === 'approved' || status === 'rejected') return status;
    const key = `${change}:${ended.length}`;
    const open = thread.activeRequests;
    if (open.some((request) => request.key === key)) return 'undecided';
    if (!this.#budget.spend(definition.name)) return 'unasked';
    if (open.length > 0) await this.#agent.cancel(thread, 'The definition has changed again.');
    await this.#agent.requestApproval(thread, {
      key,
      text: describeChange(this.#upstream, pinned, definition),
      reason: 'Until somebody accepts the new definition, calls of this tool are refused.',
    });
    return 'undecided';
  }
}

/** Selects, in order, as many of these tools as can be pinned with the others. */
function fitRoom(tools: readonly PinnedTool[], pinned: readonly PinnedTool[]): PinnedTool[] {
  let { length } = JSON.stringify(pinned);
  return tools.filter((each) => {
    length += JSON.stringify(each).length;
    return length <= longestPins;
  });
}

/* Ignores that another process does the same. */
function ignoreBusy(error: unknown): void {
  const isBusy =
    HoldpointError.isInstance(error) && ['thread-busy', 'requests-open'].includes(error.code);
  if (!isBusy) throw error;
}

/** Describes the difference between two definitions as JSON, in which no text looks like a line of ours. */
function describeChange(upstream: string, before: PinnedTool, after: PinnedTool): string {
  const fields = ['title', 'description', 'inputSchema', 'outputSchema', 'annotations'] as const;
  const lines = fields.flatMap((field) => {
    const [old, now] = [before[field], after[field]].map((value) =>
      value === undefined ? 'none' : toCanonicalText(value),
    );
    return old === now ? [] : [field, `  was: ${old}`, `  is:  ${now}`];
  });
  const question = `Accept that the MCP server ${upstream} has changed its tool ${before.name}?`;
  return [question, ...lines].map(inertText).join('\n');
}

const hourMs = 3_600_000;
/* The maximum number of recorded changes per hour, for a tool and for all tools of a server. */
const mostOfTool = 30;
const mostOfServer = 1_000;

/** Limits the recorded changes of a server whose tools change all the time. */
class ChangeBudget {
  readonly #now: () => number;
  #spent: { at: number; name: string }[] = [];

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Checks whether one more change of a tool may be recorded, and counts it if so. */
  spend(name: string): boolean {
    const at = this.#now();
    this.#spent = this.#spent.filter((each) => each.at > at - hourMs);
    const ofTool = this.#spent.filter((each) => each.name === name).length;
    if (ofTool >= mostOfTool || this.#spent.length >= mostOfServer) return false;
    this.#spent.push({ at, name });
    return true;
  }
}
