#!/usr/bin/env node
import { once } from 'node:events';
import { runHoldpoint } from './program.ts';

/* The reader of the output may stop, as `head` does. */
process.stdout.on('error', () => process.exit(0));

async function writeTo(stream: NodeJS.WriteStream, text: string): Promise<void> {
  await new Promise<void>((resolve) => {
    stream.write(text, () => resolve());
  });
}

const status = await runHoldpoint(process.argv.slice(2), {
  env: process.env,
  write: async (text) => writeTo(process.stdout, text),
  warn: async (text) => writeTo(process.stderr, text),
  untilEnded: async () => {
    await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
  },
});
/* The rules may have opened connections that would keep the process alive. */
process.exit(status);
