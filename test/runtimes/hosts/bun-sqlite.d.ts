/* What the host uses of Bun's SQLite. */
declare module 'bun:sqlite' {
  export class Database {
    constructor(path: string);
    run(text: string): void;
    query(text: string): { values(...values: unknown[]): unknown[][] };
    transaction<RESULT>(work: () => RESULT): { immediate(): RESULT };
  }
}
