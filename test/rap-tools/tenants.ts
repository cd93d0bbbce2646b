import { createToolServer, type ServedTool } from 'holdpoint/rap';
import { onTestFinished } from 'vitest';
import { z } from 'zod';
import { CallbackSite } from '../rap/callback-site.ts';
import { signedHeaders } from '../rap/standard-webhooks.ts';
import { type Callback, Runtime } from './runtime.ts';

/** A reply as a runtime sees it. */
interface Reply {
  status: number;
  body: unknown;
}

/** A company whose runtime calls the tool server over HTTP, signed with its own secret if it has one. */
export class Tenant {
  readonly runtime: Runtime;
  readonly #server: string;
  #key: Buffer | undefined;
  #sent = 0;

  constructor(runtime: Runtime, server: string, key: Buffer | undefined) {
    this.runtime = runtime;
    this.#server = server;
    this.#key = key;
  }

  /** Where this tenant gets its callbacks. */
  get callbackUrl(): string {
    return this.runtime.callbackUrl;
  }

  /** Signs with another secret from now on. */
  rotate(key: Buffer): void {
    this.#key = key;
  }

  async invoke(more: object = {}): Promise<Reply> {
    return this.posts('', this.runtime.invocation('deleteAll', { group_id: 'trip-42', ...more }));
  }

  /** Posts to a path below the server's. */
  async posts(path: string, body: unknown): Promise<Reply> {
    const text = JSON.stringify(body);
    this.#sent += 1;
    const id = `${this.runtime.origin} ${this.#sent}`;
    const signed = this.#key === undefined ? {} : signedHeaders(this.#key, text, { id });
    const response = await fetch(`${this.#server}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...signed },
      body: text,
    });
    return { status: response.status, body: await response.json() };
  }

  /** Posts a selection to where a choice wants it. */
  async selects({ json }: Callback, selected: number): Promise<Reply> {
    const { pathname } = new URL(json.response_url);
    return this.posts(pathname.replace('/rap', ''), { id: json.id, selected });
  }

  /** Invokes and answers the question if there is one. Resolves to what was said in the end. */
  async goes(selected: number, more: object): Promise<string> {
    await this.invoke(more);
    const first = await this.runtime.next();
    if (first.json.type === 'tool_result') return first.json.text;
    await this.selects(first, selected);
    return `asked, then ${(await this.runtime.next()).json.text}`;
  }
}

/** The keys with which the two sign. */
export const acmeKey = Buffer.from('thirty-two bytes that Acme knows');
export const globexKey = Buffer.from('thirty-two bytes of Globex alone');

/** The secret of a key, as the options have it. */
export function secretOf(key: Buffer): string {
  return `whsec_${key.toString('base64')}`;
}

/** How the callers of a server prove who they are. */
export const modes = ['unsigned', 'signed'] as const;
type Mode = (typeof modes)[number];

interface World {
  acme: Tenant;
  globex: Tenant;
  /** The `userId` of each call that has deleted. */
  deleted: (string | undefined)[];
  /** The `caller` of each call. */
  callers: (string | undefined)[];
  /** Gives the port to a new process. */
  restart: () => void;
}

/** A tool server on a port, whose one tool deletes everything when it may, and two companies that call it. */
export async function twoTenants(
  mode: Mode,
  options: Partial<Parameters<typeof createToolServer>[0]> = {},
): Promise<World> {
  const deleted: (string | undefined)[] = [];
  const called: (string | undefined)[] = [];
  const site = await CallbackSite.start();
  const [ofAcme, ofGlobex] = [await Runtime.start(), await Runtime.start()];
  const callers = { acme: secretOf(acmeKey), globex: secretOf(globexKey) };
  const restart = (): void => {
    site.handler = createToolServer({
      ...(mode === 'signed' ? { signing: { callers } } : {}),
      ...options,
      tools: { deleteAll: { inputSchema: z.unknown(), execute: deleteAll } },
    }).handler;
  };
  async function deleteAll(
    _input: unknown,
    { askForSession, caller, userId }: Parameters<ServedTool<unknown>['execute']>[1],
  ) {
    called.push(caller);
    if (!(await askForSession({ prompt: 'Delete everything?', key: 'delete' }))) return 'Kept.';
    deleted.push(userId);
    return 'Deleted.';
  }
  restart();
  onTestFinished(async () => {
    await site[Symbol.asyncDispose]();
    await Promise.all([ofAcme.stop(), ofGlobex.stop()]);
  });
  const isSigned = mode === 'signed';
  return {
    acme: new Tenant(ofAcme, site.url, isSigned ? acmeKey : undefined),
    globex: new Tenant(ofGlobex, site.url, isSigned ? globexKey : undefined),
    deleted,
    callers: called,
    restart,
  };
}
