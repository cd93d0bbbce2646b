/* What the hosts use of workerd's own module. */
declare module 'cloudflare:workers' {
  interface ObjectStorage {
    sql: { exec(text: string, ...values: unknown[]): { raw(): Iterable<unknown[]> } };
    transactionSync<RESULT>(work: () => RESULT): RESULT;
    getAlarm(): Promise<number | null>;
    setAlarm(at: number): Promise<void>;
    deleteAlarm(): Promise<void>;
    deleteAll(): Promise<void>;
  }

  export class DurableObject {
    constructor(ctx: { storage: ObjectStorage }, env: unknown);
    protected ctx: { storage: ObjectStorage };
  }
}
