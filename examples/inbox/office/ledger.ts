import { appendFile, readFile } from 'node:fs/promises';
import { z } from 'zod';

const entrySchema = z.object({
  key: z.string(),
  toolName: z.string(),
  input: z.unknown(),
  receipt: z.string(),
});

/** An action: a payment, a deleted file, a sent mail. */
export type LedgerEntry = z.infer<typeof entrySchema>;

/** The demo's stand-in for real services: a file with a line for each action. */
export class Ledger {
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  async entries(): Promise<LedgerEntry[]> {
    const text = await readFile(this.#path, 'utf8').catch(() => '');
    const lines = text.split('\n').filter((line) => line !== '');
    return lines.map((line) => entrySchema.parse(JSON.parse(line)));
  }

  /** The inputs of a tool, one for each of its actions. */
  async inputsOf<INPUT>(toolName: string, schema: z.ZodType<INPUT>): Promise<INPUT[]> {
    const entries = await this.entries();
    return entries
      .filter((entry) => entry.toolName === toolName)
      .map(({ input }) => schema.parse(input));
  }

  /** Does an action once per key, as a server with idempotency keys does, and returns the receipt. */
  async doOnce({ key, toolName, input }: Omit<LedgerEntry, 'receipt'>): Promise<string> {
    const done = await this.entries();
    const before = done.find((entry) => entry.key === key);
    if (before !== undefined) return before.receipt;
    const receipt = `R-${String(done.length + 1).padStart(4, '0')}`;
    const line = JSON.stringify({ key, toolName, input, receipt });
    await appendFile(this.#path, `${line}\n`, { flush: true });
    return receipt;
  }
}
