import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { approve } from 'holdpoint';
import { sqliteStore } from 'holdpoint/stores/sqlite';
import { describe, expect, test } from 'vitest';
import { errorCode } from '../support/error-code.ts';
import { travelWorld } from '../support/travel-world.ts';
import { damagedFiles } from './damaged-files.ts';
import { partEnds, writtenDatabase } from './database-files.ts';
import { FaultCount, withoutKnown } from './fault-count.ts';
import { fillDisk } from './fill-disk.ts';
import { goldenThread } from './golden-thread.ts';
import { inFolder } from './in-folder.ts';
import { ledgeredThread } from './ledgered-agent.ts';
import { faultsOf, sendAll } from './ledgered-end.ts';
import { statelessModel } from './stateless-model.ts';
import { tryFiles } from './try-files.ts';

/** How often each kind of damage is tried on each file. */
const times = Number(process.env['HOLDPOINT_DISK_TRIALS'] ?? 16);
const { text, threadId, sound } = goldenThread();

/* A log that is cut off, or wrong from some place on, ends there: the thread is then what it was after an earlier append. */
describe('a SQLite database with one thing wrong in its files opens as what was written, or is refused:', () => {
  test.each([
    ['closed, of small pages', { pageSize: 512, unclosedFrom: 3 }],
    ['closed', { pageSize: 4096, unclosedFrom: 3 }],
    ['written to since it was opened', { pageSize: 512, unclosedFrom: 2 }],
    ['never closed', { pageSize: 4096, unclosedFrom: 0 }],
  ])('%s', async (_what, writing) => {
    const database = await writtenDatabase(text, writing);
    const { events } = database;
    const count = new FaultCount();
    for (const files of damagedFiles(database, times)) {
      const isLogDamaged = files.wal !== database.wal;
      const revisions = [0, ...partEnds].slice(isLogDamaged ? writing.unclosedFrom : -1);
      count.add(files.what, await tryFiles(files, { events, revisions }));
    }
    console.log(`${count.total} databases,`, count.outcomes);
    expect(withoutKnown(count)).toEqual([]);
  });
});

test('a database whose file lost all its bytes is a new one: it knows no request, and nothing runs', async () => {
  await inFolder(async (folder) => {
    const path = join(folder, 'threads.sqlite');
    writeFileSync(path, '');
    using store = sqliteStore(path);
    const model = statelessModel([], async (_prompt, answer) => answer());
    const world = travelWorld({ model, requests: 0 }, () => store);
    const agent = world.agent();
    const asked = sound.flatMap((event) =>
      event.type === 'request-opened' ? [event.request] : [],
    );
    const answers = asked.flatMap((request) =>
      request.type === 'approval-request' ? [approve(request)] : [],
    );
    expect(answers).toHaveLength(2);
    const thread = await agent.thread(threadId);
    expect(await errorCode(agent.run(answers, thread))).toBe('not-found');
    expect(world.ran).toEqual([]);
  });
});

describe.skipIf(process.platform === 'win32')('when the disk is full,', () => {
  test('requests fail, what ran is in the log as started, and with room again the same requests come to one effect each', async () => {
    await inFolder(async (folder) => {
      const reports = await fillDisk(folder);
      const stages = new Set<string>();
      for (const { threadId: id, replies, unrecorded } of reports) {
        using thread = ledgeredThread(folder, id);
        expect(await faultsOf(thread)).toEqual([]);
        const { revision = 0 } = (await thread.store.head(id)) ?? {};
        stages.add(`${replies.join()} at ${revision}, unrecorded: ${unrecorded.join()}`);
        if (replies.at(-1) === 'completed') continue;
        expect((await sendAll(thread)).at(-1)).toBe('completed');
        expect(await faultsOf(thread)).toEqual([]);
        const ran = thread.ledgers.effects.read().map(({ toolName }) => toolName);
        expect(ran).toEqual(['look', 'book']);
      }
      console.log(stages);
      expect(stages.size).toBeGreaterThan(4);
    });
  });

  test('the error says so', async () => {
    const reports = await inFolder(fillDisk);
    const failures = reports.flatMap((report) => report.failures);
    expect(failures.length).toBeGreaterThan(10);
    for (const failure of failures) expect(failure).toMatch(/disk I\/O error|disk is full/);
  });
});
