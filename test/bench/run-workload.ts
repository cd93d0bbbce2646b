import { memoryStore } from 'holdpoint';
import { aiContender } from './ai-contender.ts';
import { bareContender } from './bare-contender.ts';
import { finalText } from './bench-model.ts';
import type { ContenderKey } from './contender.ts';
import { countDurableWork, type DurableWork } from './durable-work.ts';
import { jsonContender, sharedStoreContender } from './holdpoint-contenders.ts';
import { measure, median, type Samples } from './measure.ts';
import { pastEvents, pastMessages } from './past-conversation.ts';
import { TemporaryFiles } from './temporary-files.ts';
import { Ledger } from './transfer-tool.ts';
import type { Workload } from './workload.ts';

/** What was found at one point of the bench. */
export interface WorkloadResult {
  workload: Workload;
  samples: Samples[];
  work: DurableWork;
  /** The median of one raw durable insert, in milliseconds. */
  rawInsert: number;
}

/** Measures all contenders at one point. */
export async function runWorkload(workload: Workload, budgetMs: number): Promise<WorkloadResult> {
  const { history, batch } = workload;
  using files = new TemporaryFiles();
  const ledger = new Ledger();
  const messages = pastMessages(history);
  const setting = { past: pastEvents(messages), batch, ledger };
  const file = files.sharedFile();
  const contenders = [
    bareContender(messages, batch, ledger),
    aiContender(messages, batch, ledger),
    sharedStoreContender('memory', setting, () => {
      const store = memoryStore();
      return { asking: store, resuming: store };
    }),
    jsonContender(setting),
    sharedStoreContender('sqlite', setting, () => file),
  ];
  const raw = rawInsertSampler(files.rawInsert());
  const samples = await measure(contenders, {
    budgetMs,
    minimumRounds: 5,
    maximumRounds: 2_000,
    collect: history >= 1_000,
    check: workChecker(ledger, batch),
    eachRound: raw.sample,
  });
  const work = await countDurableWork(setting);
  return { workload, samples, work, rawInsert: median(raw.times) };
}

function workChecker(ledger: Ledger, batch: number): (key: ContenderKey, said: string) => void {
  return (key, said) => {
    const { transfers } = ledger;
    ledger.transfers = 0;
    if (said === finalText && transfers === batch) return;
    throw new Error(`'${key}' ran ${transfers} of ${batch} transfers and said '${said}'.`);
  };
}

/* Milliseconds that a cycle computes between two appends, about: a disk answers faster when nothing is between. */
const gapMs = 0.15;

/** Times raw inserts, each after some other work. */
export function rawInsertSampler(insert: () => void): {
  /** Five inserts, whose times are kept. */
  sample: () => void;
  /** One insert; gives its time in milliseconds. */
  once: () => number;
  times: number[];
} {
  const times: number[] = [];
  const once = (): number => {
    const gapEnd = performance.now() + gapMs;
    while (performance.now() < gapEnd);
    const begin = performance.now();
    insert();
    return performance.now() - begin;
  };
  const sample = (): void => {
    for (let row = 0; row < 5; row += 1) times.push(once());
  };
  return { sample, once, times };
}
