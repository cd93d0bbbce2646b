import { closeSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { z } from 'zod';

/** A list in a file that outlives whoever writes it: each line is on the disk when `append` returns. */
class LedgerFile<ENTRY> {
  readonly #path: string;
  readonly #schema: z.ZodType<ENTRY>;

  constructor(path: string, schema: z.ZodType<ENTRY>) {
    this.#path = path;
    this.#schema = schema;
  }

  append(entry: ENTRY): void {
    /* 'a' is O_APPEND: writers of several processes do not write over each other. */
    const file = openSync(this.#path, 'a');
    try {
      writeSync(file, `${JSON.stringify(entry)}\n`);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
  }

  /** What was written; nothing where nobody ever wrote. */
  read(): ENTRY[] {
    const lines = this.#text().split('\n');
    return lines.filter(Boolean).map((line) => this.#schema.parse(JSON.parse(line)));
  }

  #text(): string {
    try {
      return readFileSync(this.#path, 'utf8');
    } catch {
      return '';
    }
  }
}

const effectSchema = z.object({
  toolName: z.string(),
  toolCallId: z.string(),
  idempotencyKey: z.string(),
  input: z.unknown(),
  revision: z.int(),
});
const askedSchema = z.object({ prompt: z.unknown(), revision: z.int() });
const acknowledgedSchema = z.object({ requestId: z.string(), approved: z.boolean() });

/** What the processes of one thread leave behind beside the thread itself. */
export function ledgersOf(folder: string, threadId: string) {
  return {
    effects: new LedgerFile(`${folder}/${threadId}.effects`, effectSchema),
    prompts: new LedgerFile(`${folder}/${threadId}.prompts`, askedSchema),
    acknowledged: new LedgerFile(`${folder}/${threadId}.acknowledged`, acknowledgedSchema),
  };
}
