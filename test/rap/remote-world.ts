import {
  type Agent,
  type AgentOptions,
  type AgentThread,
  createAgent,
  type QuestionRequestContent,
  type QuestionResponseContent,
  type ThreadStore,
} from 'holdpoint';
import { createCallbackHandler, remoteTool } from 'holdpoint/rap';
import { z } from 'zod';
import { type ScriptedStep, scriptedModel } from 'holdpoint/testing';
import { storeKits } from '../support/store-kits.ts';
import { CallbackSite } from './callback-site.ts';
import { ToolServer } from './tool-server.ts';
import type { DiscardedCallback } from '../../src/channels/rap/create-callback-handler.ts';
import type { RemoteToolOptions } from '../../src/channels/rap/remote-tool.ts';

/** The secret of the app in these tests. */
export const secret = 'a secret of the tests, 32 bytes or more';
/** A script whose first step calls the remote tool. */
export const script: ScriptedStep[] = [
  { calls: [{ id: 'call_abc123', name: 'write', input: { path: '/etc/motd' } }] },
  { text: 'It is written.' },
];

interface WorldOptions {
  tool?: Partial<RemoteToolOptions<{ path: string }>>;
  agent?: Partial<AgentOptions>;
  handler?: Partial<Parameters<typeof createCallbackHandler>[0]>;
  /** The kind of store; the default outlives processes. */
  storeName?: 'memoryStore' | 'sqliteStore';
  script?: ScriptedStep[];
}

/** A tool server, an app that calls it, and what outlives the app's processes. */
export class RemoteWorld implements AsyncDisposable {
  readonly server: ToolServer;
  readonly site: CallbackSite;
  readonly played: ReturnType<typeof scriptedModel>;
  /** What the handler dropped. */
  readonly discarded: DiscardedCallback[] = [];
  /** How long answers were held back before each further try, in milliseconds. */
  readonly pauses: number[] = [];
  readonly #options: WorldOptions;
  readonly #kept;

  private constructor(server: ToolServer, site: CallbackSite, options: WorldOptions) {
    this.server = server;
    this.site = site;
    this.#options = options;
    this.played = scriptedModel(options.script ?? script);
    const { storeName = 'memoryStore' } = options;
    const kit = storeKits.find(({ name }) => name === storeName);
    if (kit === undefined) throw new Error(`There is no ${storeName}.`);
    this.#kept = kit.keep();
  }

  static async start(options: WorldOptions = {}): Promise<RemoteWorld> {
    return new RemoteWorld(await ToolServer.start(), await CallbackSite.start(), options);
  }

  /** The store as a new process opens it. */
  open(): ThreadStore {
    return this.#kept.open();
  }

  tools(options: Partial<RemoteToolOptions<{ path: string }>> = {}) {
    const write = remoteTool({
      endpoint: this.server.endpoint,
      description: 'Writes a file.',
      inputSchema: z.object({ path: z.string() }),
      callbackUrl: this.site.url,
      secret,
      wait: async (milliseconds) => this.pauses.push(milliseconds),
      ...this.#options.tool,
      ...options,
    });
    return { write };
  }

  /** A new process: its agent, behind the callback URL from now on. */
  process(options: Partial<AgentOptions> = {}): Agent {
    const tools = this.tools();
    const agentOptions: AgentOptions = {
      model: this.played.model,
      tools,
      store: this.open(),
      maxRetries: 0,
      ...this.#options.agent,
      ...options,
    };
    const agent = createAgent(agentOptions);
    this.site.handler = createCallbackHandler({
      agent,
      tools,
      onDiscarded: (discarded) => this.discarded.push(discarded),
      ...this.#options.handler,
    });
    return agent;
  }

  /** A process whose thread `t` has a call at the server. */
  async called(): Promise<{ agent: Agent; thread: AgentThread }> {
    const agent = this.process();
    const thread = await agent.thread('t');
    await agent.run('Write the message of the day.', thread);
    return { agent, thread };
  }

  /** The same, and the server has asked. */
  async asked(fields: object = {}): Promise<{ agent: Agent; thread: AgentThread }> {
    const { agent } = await this.called();
    await this.server.ask(this.server.last, fields);
    return { agent, thread: await agent.thread('t') };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.server[Symbol.asyncDispose]();
    await this.site[Symbol.asyncDispose]();
    this.#kept[Symbol.dispose]();
  }
}

/** The question that a thread asks. */
export function questionOf({ activeRequests }: AgentThread): QuestionRequestContent {
  const [request] = activeRequests;
  if (request?.type !== 'question-request') throw new Error('Nothing is asked.');
  return request;
}

/** The answer that picks the option at a place. */
export function pick(thread: AgentThread, index: number): QuestionResponseContent {
  const { requestId, fields } = questionOf(thread);
  const key = fields[0]?.key ?? '';
  const optionIds = [fields[0]?.options[index]?.id ?? 'none'];
  return {
    type: 'question-response',
    requestId,
    status: 'answered',
    answers: [{ key, optionIds }],
  };
}

/** The answer of a person who closes the question. */
export function dismiss(thread: AgentThread): QuestionResponseContent {
  return {
    type: 'question-response',
    requestId: questionOf(thread).requestId,
    status: 'dismissed',
  };
}
