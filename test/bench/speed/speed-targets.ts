/** A row of the table. Figures of one row stand beside each other, as its name does. */
interface SpeedRow {
  name: string;
  /** What a figure is: a ratio to the AI SDK's own, or milliseconds. */
  unit: 'times' | 'ms';
  /** What version 0.1.0 was measured to have. */
  before: readonly number[];
  asked: readonly number[];
  hoped: readonly number[];
}

/** What each row should reach. */
export const speedTargets = {
  cold: {
    name: 'cycle, cold agents, shared memory store',
    unit: 'times',
    before: [6],
    asked: [2],
    hoped: [1.6],
  },
  warm: { name: 'cycle, warm', unit: 'times', before: [4.5], asked: [1.7], hoped: [1.2] },
  signed: {
    name: "cycle, cold, against the AI SDK's signed approvals",
    unit: 'times',
    before: [1.6],
    asked: [0.6],
    hoped: [0.45],
  },
  thousand: {
    name: '1,000 messages, warm handle / opened anew',
    unit: 'times',
    before: [1.3, 10],
    asked: [1.1, 3],
    hoped: [1, 2],
  },
  tenThousand: {
    name: '10,000 messages, warm handle / opened anew',
    unit: 'times',
    before: [0.64, 5.3],
    asked: [0.6, 2],
    hoped: [0.5, 1.3],
  },
  calls: {
    name: '10 / 100 calls in a step',
    unit: 'times',
    before: [4.1, 2.8],
    asked: [1.8, 1.6],
    hoped: [1.4, 1.2],
  },
  turn: {
    name: 'a turn without approvals',
    unit: 'times',
    before: [2.8],
    asked: [1.5],
    hoped: [1.3],
  },
  stream: {
    name: 'stream of 1,000 deltas: total / first',
    unit: 'times',
    before: [0.1, 0.31],
    asked: [0.1, 0.3],
    hoped: [0.08, 0.25],
  },
  sqliteCycle: {
    name: "SQLite: cycle over (the AI SDK's memory cycle + appends x raw insert)",
    unit: 'times',
    before: [],
    asked: [1.4],
    hoped: [1.15],
  },
  sqliteOpening: {
    name: 'opening 10,000 messages from SQLite over JSON.parse of the same text',
    unit: 'times',
    before: [6.3],
    asked: [3],
    hoped: [1.5],
  },
  importing: {
    name: 'importing the root over `ai`',
    unit: 'ms',
    before: [72],
    asked: [20],
    hoped: [12],
  },
  allocated: {
    name: 'allocated in a cycle, warm',
    unit: 'times',
    before: [1.9],
    asked: [1.3],
    hoped: [1.1],
  },
} as const satisfies Record<string, SpeedRow>;

/** The short name of a row. */
export type SpeedKey = keyof typeof speedTargets;

/** What was found for a row: its figures, and what they were made from. */
export interface SpeedFound {
  key: SpeedKey;
  figures: readonly number[];
  /** For the reader, such as `310 µs over 150 µs`. */
  from: string;
}
