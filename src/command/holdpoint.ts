#!/usr/bin/env node
import { runHoldpoint } from './program.ts';

/* Whoever reads the output may stop, as `head` does. */
process.stdout.on('error', () => process.exit(0));

const ending = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => ending.abort());

async function writeTo(stream: NodeJS.WriteStream, text: string): Promise<void> {
  await new Promise<void>((resolve) => {
    stream.write(text, () => resolve());
  });
}

const status = await runHoldpoint(process.argv.slice(2), {
  env: process.env,
  write: async (text) => writeTo(process.stdout, text),
  warn: async (text) => writeTo(process.stderr, text),
  now: Date.now,
  signal: ending.signal,
});
/* The rules may have opened connections that would keep the process alive. */
process.exit(status);
