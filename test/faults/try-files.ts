import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Agent, AgentThread, ThreadEvent, ThreadStore } from 'holdpoint';
import { sqliteStore } from 'holdpoint/stores/sqlite';
import type { DamagedFiles } from './damaged-files.ts';
import { type Trial, tryDamaged } from './damage-trial.ts';
import { goldenThread } from './golden-thread.ts';
import { inFolder } from './in-folder.ts';

/** What a thread may be found to be: its first events, up to one of these revisions. */
interface Past {
  events: readonly ThreadEvent[];
  revisions: readonly number[];
}

/* What SQLite, or the store, says of a file that is damaged; in words, as a trial keeps no more of an error. */
const damageWords =
  /database disk image is malformed|file is not a database|unsupported file format|malformed database schema|disk I\/O error|its last page is cut off/;

/** Opens a database of damaged files, and goes on with its thread as an app would. */
export async function tryFiles(files: DamagedFiles, past: Past): Promise<Trial> {
  const { outcome, faults } = await inFolder(async (folder) => {
    const path = join(folder, 'threads.sqlite');
    write(path, files);
    try {
      using store = sqliteStore(path);
      const { threadId, sound } = goldenThread();
      const open = async (agent: Agent) => expectPast(await agent.thread(threadId), past);
      return await tryDamaged({ store: impatient(store), threadId, sound, open });
    } catch (error) {
      return { outcome: 'refused', faults: [`Opened, it threw ${String(error)}`] } as const;
    }
  });
  return { outcome, faults: faults.filter((fault) => !damageWords.test(fault)) };
}

/** A store that fails where an agent would try for ever, as no test ends that does so. */
function impatient(store: ThreadStore): ThreadStore {
  let conflicts = 0;
  return {
    ...store,
    async append(...input) {
      try {
        await store.append(...input);
      } catch (error) {
        conflicts += 1;
        throw conflicts < 50 ? error : new Error('it conflicts for ever, and nobody else writes.');
      }
    },
  };
}

function write(path: string, { main, wal, shm }: DamagedFiles): void {
  writeFileSync(path, main);
  if (wal !== undefined) writeFileSync(`${path}-wal`, wal);
  if (shm !== undefined) writeFileSync(`${path}-shm`, shm);
}

function expectPast(thread: AgentThread, { events, revisions }: Past): AgentThread {
  const isSame = isDeepStrictEqual(thread.events, events.slice(0, thread.revision));
  if (isSame && revisions.includes(thread.revision)) return thread;
  throw new Error(`it opened as another thread, at revision ${thread.revision}.`);
}
