import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import type { PlayedModel, ScriptedStep } from '../support/script.ts';
import type { ProviderProtocol } from './provider-protocol.ts';

/** A server on the loopback that plays a script, and what it was sent. */
export interface ScriptServer extends Required<Omit<PlayedModel, 'model'>> {
  baseURL: string;
}

interface Answer {
  status: number;
  body: object;
}

/**
 * Serves a script through a provider's protocol: the n-th POST gets the n-th step, or a 400 when it breaks a rule.
 * A request that no step is left for is a violation too.
 */
export async function startScriptServer(
  protocol: ProviderProtocol,
  script: readonly ScriptedStep[],
): Promise<ScriptServer> {
  const bodies: unknown[] = [];
  const violations: string[] = [];

  function answer(request: IncomingMessage, body: unknown): Answer {
    const step = script[bodies.push(body) - 1];
    const found = violationsOf(protocol, request, body);
    if (step === undefined) found.push(`The script has no step ${bodies.length}.`);
    violations.push(...found);
    if (step === undefined || found.length > 0) return refuse(found.join('\n'));
    return step.fail === undefined
      ? { status: 200, body: protocol.answer(step, body) }
      : refuse(step.fail);
  }

  function refuse(message: string): Answer {
    return { status: 400, body: protocol.refusal(message) };
  }

  async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { status, body } = answer(request, parsed(await text(request)));
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(body));
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
