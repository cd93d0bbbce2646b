import { type AppendHooks, type HookCall, makeHookError } from '../sql/hooks.ts';
import type { SqliteStatement, SqliteValue } from './sqlite-driver.ts';

/** The writes that become durable with an append, or not at all. */
export interface SqliteTransaction {
  /**
   * Adds a statement to the append's batch, with a value for each `?`. It runs when the hook has returned; if it fails, so does the append.
   * Put variable parts into `values`, as some stores keep each text prepared.
   */
  run(text: string, values?: readonly SqliteValue[]): void;
}

/** Called before an append, with its transaction. If one throws or rejects, nothing is appended. */
export type SqliteHooks = AppendHooks<SqliteTransaction>;

/** Calls hooks one after the other. Resolves with the statements that they have added. */
export async function callHooks(
  calls: readonly HookCall<SqliteTransaction>[],
): Promise<SqliteStatement[]> {
  const statements: SqliteStatement[] = [];
  for (const hook of calls) statements.push(...(await callHook(hook)));
  return statements;
}

async function callHook({ name, call }: HookCall<SqliteTransaction>): Promise<SqliteStatement[]> {
  const statements: SqliteStatement[] = [];
  let isOver = false;
  const transaction: SqliteTransaction = {
    run(text, values = []) {
      if (isOver) throw new Error(`The transaction is over. Call run before ${name} ends.`);
      statements.push({ text, values });
    },
  };
  try {
    await call(transaction);
  } catch (cause) {
    throw makeHookError(name, cause);
  } finally {
    isOver = true;
  }
  return statements;
}
