import { appendFile, mkdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** A file with a line for each thing that the tools did; it stands in for a cloud service. */
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
