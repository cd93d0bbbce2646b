/*
 * Runs tests of the project in its working directory, one after the other: Vitest starts once, and transforms again only the files that
 * changed. It receives each `SuiteOrder` as a message, and sends what came of it. Argument: the configuration of Vitest.
 */
import { Writable } from 'node:stream';
import { createVitest } from 'vitest/node';
import { suiteOrderSchema, type SuiteReport } from './suite-order.ts';

const [config = ''] = process.argv.slice(2);
let said = '';
const output = new Writable({
  write(chunk, _encoding, done) {
    said += String(chunk);
    done();
  },
});
/* Some broken lines keep a test waiting for ever. The quick ones take seconds at most; deep ones may take many minutes. */
const limits = config.endsWith('deep.config.ts') ? {} : { testTimeout: 35_000 };
const vitest = await createVitest(
  { config, watch: false, ...limits },
  {},
  { stdout: output, stderr: output },
);
await vitest.standalone();

async function run(message: unknown): Promise<SuiteReport> {
  const { suite, name, changed } = suiteOrderSchema.parse(message);
  changed.forEach((path) => vitest.invalidateFile(path));
  vitest.setGlobalTestNamePattern(name);
  said = '';
  /* What a broken line keeps from happening is not waited for as long. */
  if (changed.length > 0) process.env['HOLDPOINT_WAIT_MS'] = '5000';
  else delete process.env['HOLDPOINT_WAIT_MS'];
  const specifications = await vitest.globTestSpecifications([suite]);
  const { testModules, unhandledErrors } = await vitest.runTestSpecifications(specifications);
  /* They change back before the next order. */
  changed.forEach((path) => vitest.invalidateFile(path));
  const ran = new Set(specifications.map(({ moduleId }) => moduleId));
  const failed = testModules.filter((module) => ran.has(module.moduleId) && !module.ok());
  return { hasFailed: failed.length + unhandledErrors.length > 0, said };
}

process.on('disconnect', () => void vitest.close().finally(() => process.exit()));
process.on('message', (message) => {
  void run(message)
    .catch((error: unknown) => ({ hasFailed: false, said: String(error) }))
    .then((report) => process.send?.(report));
});
process.send?.('ready');
