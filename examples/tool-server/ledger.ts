import { appendFile, mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** What the tools did, a line each. In place of a cloud. */
export class Ledger {
  readonly path: string;

  constructor(folder: string) {
    this.path = join(folder, 'done.jsonl');
  }

  async write(done: object): Promise<void> {
    await mkdir(dirname(this.path), { recursive: true });
    await appendFile(this.path, `${JSON.stringify(done)}\n`);
  }
}
