import { Writable } from 'node:stream';
import type { Gate } from '../gate.ts';

/**
 * Reserves the standard output for the protocol: other writes, such as `console.log` of a rule, go to the standard error. Returns a
 * function that writes to it, and one that ends this.
 */
export function reserveOutput(): { wire: Writable; release: () => unknown } {
  const { stdout, stderr } = process;
  const write = stdout.write.bind(stdout);
  /* A client that has gone must not end the process while a call runs. */
  stdout.removeAllListeners('error').on('error', ignore);
  stdout.write = stderr.write.bind(stderr);
  const wire = new Writable({
    write: (chunk: Uint8Array, _encoding, done) => void write(chunk, () => done()),
  });
  /* Each message that waits to be written listens for errors. */
  wire.setMaxListeners(0);
  return {
    wire,
    release: () => (stdout.write = write),
  };
}

function ignore(): void {}

/** Serves one client over standard input and `wire`. Resolves when it has gone. */
export async function serveGateOverStdio(
  gate: Gate,
  wire: Writable,
  principal: unknown,
): Promise<void> {
  const { StdioServerTransport } = await import('@modelcontextprotocol/server/stdio');
  const transport = new StdioServerTransport(process.stdin, wire);
  const gone = Promise.withResolvers<void>();
  process.stdin.once('end', gone.resolve).once('close', gone.resolve);
  await Promise.race([gate.serveStdio({ principal, transport }), gone.promise]);
}
