import { mkdir, open } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { hashText } from '../../content/crypto.ts';
import { type CommandWorld, UsageError } from './run-command.ts';

/** The options of the gate that name its store. */
interface GateStoreOptions {
  store?: string | undefined;
  /** The Postgres database; `true`: the one in `DATABASE_URL`. */
  postgres?: string | true | undefined;
}

/** The store of a gate's threads, and the key that guards its page. */
export interface GateStore {
  named: { store: string } | { postgres: string };
  keyFile: string;
}

/**
 * Finds the store of a gate, and makes its file, which only its user can read. `DATABASE_URL` counts only on request: agents run in the
 * folders of projects, whose database it often is.
 */
export async function prepareGateStore(
  { store, postgres }: GateStoreOptions,
  env: CommandWorld['env'],
): Promise<GateStore> {
  const folder = join(env['HOME'] || homedir(), '.holdpoint');
  if (postgres !== undefined) {
    const url = postgres === true ? env['DATABASE_URL'] : postgres;
    if (!url) throw new UsageError('--postgres needs a URL, or the variable DATABASE_URL.');
    await makeFolder(folder);
    const digest = await hashText(`holdpoint/gate-key/v1\0${url}`);
    return {
      named: { postgres: url },
      keyFile: join(folder, `gate-${digest.slice(0, 22)}.key`),
    };
  }
  const file = resolve(store ?? (env['HOLDPOINT_STORE'] || join(folder, 'gate.sqlite')));
  await makeFolder(dirname(file));
  const created = await open(file, 'a', 0o600);
  await created.close();
  return { named: { store: file }, keyFile: `${file}.key` };
}

/* An existing one stays as it is. */
async function makeFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
}
