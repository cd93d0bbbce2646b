import type { Transport } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { renderSchemaError } from '../../json/field-fault.ts';

/** An MCP server that the gate starts as a process and talks to over its standard input and output. */
interface StdioUpstream {
  /** The program. It is started without a shell. */
  command: string;
  /** Its arguments. */
  args?: readonly string[] | undefined;
  /** Its working directory. Default: that of the gate. */
  cwd?: string | undefined;
  /** Environment variables for it, and for no other. */
  env?: Readonly<Record<string, string>> | undefined;
  /**
   * The names of the gate's own environment variables that it gets besides `PATH`, `HOME`, `USER`, `LOGNAME`, `SHELL` and `TERM`, or what
   * corresponds to these on Windows. It gets no others.
   */
  inheritEnv?: readonly string[] | undefined;
}

/** An MCP server at an address, over streamable HTTP. */
export interface HttpUpstream {
  /** Its address. */
  url: string | URL;
  /** Headers of each request to it, such as `authorization`. */
  headers?: Readonly<Record<string, string>> | undefined;
}

/** An MCP server that your code connects to. */
interface TransportUpstream {
  /** Makes a new transport of `@modelcontextprotocol/client` for each connection. */
  transport: () => Transport;
}

/** An MCP server behind the gate. */
export type UpstreamOptions = StdioUpstream | HttpUpstream | TransportUpstream;

const texts = z.record(z.string(), z.string());

const upstreamSchema = z.union([
  z.strictObject({
    command: z.string().min(1),
    args: z.array(z.string()).optional(),
    cwd: z.string().optional(),
    env: texts.optional(),
    inheritEnv: z.array(z.string()).optional(),
  }),
  z.strictObject({
    url: z.union([z.url({ protocol: /^https?$/ }), z.instanceof(URL)]),
    headers: texts.optional(),
  }),
  z.strictObject({
    transport: z.custom<() => Transport>((value) => typeof value === 'function'),
  }),
]);

/** Throws a `TypeError` for upstreams that can't be connected to. */
export function checkUpstreams(upstreams: Readonly<Record<string, UpstreamOptions>>): void {
  const entries = Object.entries(upstreams);
  if (entries.length === 0) throw new TypeError('A gate needs at least one upstream.');
  for (const [name, options] of entries) {
    if (!/^[a-z][a-z0-9-]{0,31}$/.test(name)) {
      throw new TypeError(
        `The upstream '${name}' needs another name: 1 to 32 lower-case letters, digits and hyphens, a letter first.`,
      );
    }
    const { error } = upstreamSchema.safeParse(options);
    if (error !== undefined) {
      const wanted =
        'It takes { command, args, cwd, env, inheritEnv }, { url, headers } or { transport }';
      throw new TypeError(
        `The upstream '${name}' is not valid: ${renderSchemaError(error)}\n${wanted}.`,
      );
    }
    if (!('command' in options)) continue;
    const missing = options.inheritEnv?.find((variable) => process.env[variable] === undefined);
    if (missing !== undefined) {
      throw new TypeError(
        `The upstream '${name}' inherits ${missing}, which is not set in the environment of the gate.`,
      );
    }
  }
}
