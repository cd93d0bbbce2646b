import { appendFile, readFile } from 'node:fs/promises';
import { z } from 'zod';

const entrySchema = z.object({
  key: z.string(),
  toolName: z.string(),
  input: z.unknown(),
  receipt: z.string(),
});

/** Something that was done in the world: money that was paid, a file that is gone, a mail that has left. */
export type LedgerEntry = z.infer<typeof entrySchema>;

/** The world of the demo: a file with a line for each thing that was done. */
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

  /** What a tool was given, each time it did something. */
  async inputsOf<INPUT>(toolName: string, schema: z.ZodType<INPUT>): Promise<INPUT[]> {
    const entries = await this.entries();
    return entries
      .filter((entry) => entry.toolName === toolName)
      .map(({ input }) => schema.parse(input));
  }

  /** Does a thing once for a key, as a good server does, and gives the receipt. */
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
