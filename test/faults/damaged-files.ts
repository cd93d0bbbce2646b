import type { DatabaseFiles, WrittenDatabase } from './database-files.ts';

/** Files with one thing wrong, and which. */
export interface DamagedFiles extends DatabaseFiles {
  what: string;
}

/** The same numbers at every run of a test, each below its limit. */
class Dice {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  below(limit: number): number {
    this.#state = (this.#state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((this.#state / 2_147_483_648) * limit);
  }
}

/** What may be wrong with a file that is made of pages; `older` is what the file was before. */
type FileDamage = (file: Buffer, pageSize: number, dice: Dice, older: Buffer) => Buffer;

const fileDamages: readonly [what: string, damage: FileDamage][] = [
  ['a bit flipped', (file, _pageSize, dice) => flipped(file, dice.below(file.length), dice)],
  [
    'a bit flipped in its header',
    (file, _pageSize, dice) => flipped(file, dice.below(Math.min(100, file.length)), dice),
  ],
  [
    'some bytes of noise',
    (file, _pageSize, dice) => {
      const at = dice.below(file.length);
      return overwritten(file, at, noise(Math.min(40, file.length - at), dice));
    },
  ],
  [
    'a page of zeroes',
    (file, pageSize, dice) => {
      const at = pageAt(file, pageSize, dice);
      return overwritten(file, at, Buffer.alloc(Math.min(pageSize, file.length - at)));
    },
  ],
  [
    'two pages exchanged',
    (file, pageSize, dice) => {
      const [one, other] = [pageAt(file, pageSize, dice), pageAt(file, pageSize, dice)];
      const moved = overwritten(file, one, file.subarray(other, other + pageSize));
      return overwritten(moved, other, file.subarray(one, one + pageSize));
    },
  ],
  [
    'a page that was never written',
    (file, pageSize, dice, older) => {
      const at = pageAt(older, pageSize, dice);
      return overwritten(file, at, older.subarray(at, at + pageSize));
    },
  ],
  ['its end cut off', (file, _pageSize, dice) => file.subarray(0, dice.below(file.length))],
];

/* Before each page in the write-ahead log. */
const frameHeaderSize = 24;

/** The files of a database with one thing wrong, each kind of damage so often, at other places. */
export function* damagedFiles(files: WrittenDatabase, times: number): Generator<DamagedFiles> {
  const dice = new Dice(20_261_122);
  const { main, wal, pageSize, older } = files;
  for (const [what, damage] of fileDamages) {
    for (let time = 0; time < times; time += 1) {
      const before = older[dice.below(older.length)] ?? main;
      const damaged = damage(main, pageSize, dice, before);
      yield { what: `the file has ${what}`, main: damaged, ...(wal === undefined ? {} : { wal }) };
      if (wal === undefined) continue;
      const frame = pageSize + frameHeaderSize;
      yield { what: `the log has ${what}`, main, wal: damage(wal, frame, dice, wal) };
    }
  }
  if (wal !== undefined) {
    yield { what: 'the shared index is noise', main, wal, shm: noise(32_768, dice) };
  }
}

function flipped(file: Buffer, at: number, dice: Dice): Buffer {
  return overwritten(file, at, Buffer.of((file[at] ?? 0) ^ (1 << dice.below(8))));
}

function overwritten(file: Buffer, at: number, bytes: Buffer): Buffer {
  const changed = Buffer.from(file);
  bytes.copy(changed, at);
  return changed;
}

function noise(length: number, dice: Dice): Buffer {
  return Buffer.from(Array.from({ length }, () => dice.below(256)));
}

function pageAt(file: Buffer, pageSize: number, dice: Dice): number {
  return dice.below(Math.ceil(file.length / pageSize)) * pageSize;
}
