/*
 * For `test/rows.config.ts`: after each test, the rows of the threads that were written in it are compared with their logs, and what the logs
 * add up to with what the threads say. Each line of the file `HOLDPOINT_ROWS` is a test: how many threads were compared, and what was wrong.
 */
import { appendFileSync } from 'node:fs';
import { HoldpointError } from 'holdpoint';
import { afterEach, expect } from 'vitest';
import { AgentThread } from '../../src/thread/agent-thread.ts';
import { replayRequests } from '../../src/thread/stored-requests.ts';
import { ThreadLog } from '../../src/thread/thread-log.ts';
import { expectSameRows } from './expect-rows.ts';

const file = process.env['HOLDPOINT_ROWS'] ?? '';
/* Tests replace them. */
const { setTimeout: setRealTimeout, clearTimeout: clearRealTimeout } = globalThis;
const patienceMs = 5_000;

/** The logs that the test has written. Files share a process, which is patched once. */
const shared = Symbol.for('holdpoint.test.written-logs');
const written = findWritten();

function findWritten(): Set<ThreadLog> {
  const known: unknown = Reflect.get(ThreadLog, shared);
  if (known instanceof Set) return known;
  const logs = new Set<ThreadLog>();
  Reflect.set(ThreadLog, shared, logs);
  const { commit, writeWhole } = ThreadLog.prototype;
  ThreadLog.prototype.commit = async function noteCommit(...input) {
    const events = await commit.apply(this, input);
    if (events.length > 0) logs.add(this);
    return events;
  };
  ThreadLog.prototype.writeWhole = async function noteWhole(...input) {
    await writeWhole.apply(this, input);
    logs.add(this);
  };
  return logs;
}

/** What is wrong with the rows of a thread; `undefined` if its store can't be read any more, or its log was damaged by the test. */
async function findFault(log: ThreadLog): Promise<string | undefined> {
  try {
    await log.pull();
    await log.verify();
    const thread = new AgentThread(log, () => 0, log);
    expectSameRows([...replayRequests(log.state).values()], thread);
    return '';
  } catch (error) {
    const isOfRows =
      (HoldpointError.isInstance(error) && /^Request .* of thread/.test(error.message)) ||
      (error instanceof Error && error.name === 'AssertionError');
    return isOfRows ? String(error) : undefined;
  }
}

afterEach(async () => {
  const logs = [...written];
  written.clear();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const patience = new Promise<undefined>((resolve) => {
    timer = setRealTimeout(() => resolve(undefined), patienceMs);
  });
  const found = await Promise.all(
    logs.map(async (log) => Promise.race([findFault(log), patience])),
  );
  clearRealTimeout(timer);
  const compared = found.filter((fault) => fault !== undefined);
  const faults = compared.filter((fault) => fault !== '');
  const { currentTestName: name, testPath: path } = expect.getState();
  appendFileSync(file, `${JSON.stringify({ path, name, compared: compared.length, faults })}\n`);
});
