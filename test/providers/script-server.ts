import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import type { PlayedModel } from '../support/script.ts';
import type { ProviderProtocol } from './provider-protocol.ts';
import { type ServedStep, ServedStream } from './served-stream.ts';

/** A server on the loopback that plays a script, and what it was sent. */
export interface ScriptServer extends Required<Omit<PlayedModel, 'model'>> {
  baseURL: string;
  /** What it streams or has streamed, oldest first. */
  streams: readonly ServedStream[];
}

const streamedRequest = z.object({ stream: z.literal(true) });

/**
 * Serves a script through a provider's protocol: the n-th POST gets the n-th step, as a stream if it asks for one, or a 400
 * when it breaks a rule. A request that no step is left for is a violation too.
 */
export async function startScriptServer(
  protocol: ProviderProtocol,
  script: readonly ServedStep[],
): Promise<ScriptServer> {
  const bodies: unknown[] = [];
  const violations: string[] = [];
  const streams: ServedStream[] = [];

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = parsed(await text(request));
    const step = script[bodies.push(body) - 1];
    const found = violationsOf(protocol, request, body);
    if (step === undefined) found.push(`The script has no step ${bodies.length}.`);
    violations.push(...found);
    if (step === undefined || found.length > 0) return refuse(response, found.join('\n'));
    if (step.fail !== undefined) return refuse(response, step.fail);
    const answer = protocol.answer(step, body);
    if (!streamedRequest.safeParse(body).success) return sendJson(response, 200, answer);
    const stream = new ServedStream(response, protocol.stream);
    streams.push(stream);
    await stream.send(answer, { step, body });
  }

  function refuse(response: ServerResponse, message: string): void {
    sendJson(response, 400, protocol.refusal(message));
  }

  const server = createServer((request, response) => {
    respond(request, response).catch((error: unknown) => {
      violations.push(`The server failed: ${String(error)}`);
      response.destroy();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The server has no port.');
  return {
    baseURL: `http://127.0.0.1:${address.port}/v1`,
    violations,
    bodies,
    streams,
    get requests() {
      return bodies.length;
    },
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}

function sendJson(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

function violationsOf(
  protocol: ProviderProtocol,
  { method, url, headers }: IncomingMessage,
  body: unknown,
): string[] {
  const place = `${method} ${url}`;
  if (place !== `POST ${protocol.path}`) return [`${place} is not served.`];
  return body === undefined ? ['The body is not JSON.'] : protocol.violations(body, headers);
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
